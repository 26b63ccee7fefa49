import { QueueServiceClient } from "@azure/storage-queue";
import { ShareServiceClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, expect, test } from "vitest";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { placeOf } from "../harness/test-store.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import * as smb from "../smb-wire/wire-messages.ts";
import type { ReceivedEvent } from "./webhook-receiver.ts";

let server: EtagereServer;

beforeAll(async () => {
  const subscriptions = { files: { destination: { queue: "events" }, eventTypes: ["All"] } };
  const accounts = { [account]: { subscriptions } };
  server = await start({ ...freePorts, smbPort: 0, ...placeOf({}), accounts });
  const { connectionString } = server;
  await QueueServiceClient.fromConnectionString(connectionString).createQueue("events");
  await ShareServiceClient.fromConnectionString(connectionString).createShare("box");
});

afterAll(() => server.stop());

async function received(): Promise<readonly ReceivedEvent[]> {
  await server.events.settled();
  const queue = QueueServiceClient.fromConnectionString(server.connectionString);
  const { receivedMessageItems } = await queue
    .getQueueClient("events")
    .receiveMessages({ numberOfMessages: 32 });
  return receivedMessageItems.map(
    ({ messageText }) => JSON.parse(Buffer.from(messageText, "base64").toString()) as ReceivedEvent,
  );
}

const basicInformation = 4;
const renameInformation = 10;

test("changes over SMB and over REST are delivered in the order of their commits", async () => {
  const client = await WireClient.ready(server.smbUrl, "box");
  const access = smb.Access.all;
  const handle = await smb.openFile(client, "a.txt", { disposition: smb.openIf, access });
  await smb.write(client, handle, "hello");
  await smb.setInfo(client, handle, basicInformation, smb.basicInfo(2));
  await smb.setInfo(client, handle, renameInformation, smb.renameInfo("b.txt"));
  await smb.close(client, handle);
  const share = ShareServiceClient.fromConnectionString(server.connectionString);
  const file = share.getShareClient("box").rootDirectoryClient.getFileClient("b.txt");
  await file.uploadRange("x", 0, 1);
  const again = await smb.openFile(client, "b.txt", { access });
  await smb.setDeletePending(client, again, true);
  await smb.close(client, again);
  client.end();
  const events = await received();
  expect(events.map(({ eventType, data }) => `${eventType} ${String(data["api"])}`)).toEqual([
    "Etagere.FileCreated SmbCreate",
    "Etagere.FilePropertiesUpdated SmbSetInfo",
    "Etagere.FileRenamed SmbRename",
    "Etagere.FileContentUpdated SmbWrite",
    "Etagere.FileContentUpdated PutRange",
    "Etagere.FileDeleted SmbDelete",
  ]);
  expect(events[3]).toMatchObject({
    subject: "/fileServices/default/shares/box/files/b.txt",
    data: { contentLength: 5, url: `${server.urls.file}/${account}/box/b.txt` },
  });
  expect(events[2]?.data).toMatchObject({
    sourceUrl: `${server.urls.file}/${account}/box/a.txt`,
    destinationUrl: `${server.urls.file}/${account}/box/b.txt`,
  });
});
