import { ShareServiceClient } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import { Access, notifyBody, openFile, writeBody } from "./wire-messages.ts";

const held = testServer();

const directoryOption = 1;
const everything = 0x17f;
const changeNotify = 15;
const writeCommand = 9;
/** More watches than one iteration of the event loop notifies. */
const watchesCount = 600;
const writesAtOnce = 24;
const writesMax = 20_000;

async function watchOften(watcher: WireClient): Promise<void> {
  for (let at = 0; at < watchesCount; at += 1) {
    const options = { access: Access.read, options: directoryOption };
    const directory = await openFile(watcher, "watched", options);
    watcher.begin(changeNotify, notifyBody(directory, everything));
  }
  await watcher.interim(watchesCount);
}

it(
  "a client logs in while a watched share changes continuously",
  { timeout: 120_000 },
  async () => {
    const share = freshName("busy");
    const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
    await service.getShareClient(share).create();
    const watcher = await WireClient.ready(held.server.smbUrl, share);
    await watchOften(watcher);
    const writer = await WireClient.ready(held.server.smbUrl, share);
    const file = await openFile(writer, "busy.txt");
    const load = { writes: 0, isOver: false };
    let begun = (): void => {};
    const isBusy = new Promise<void>((resolve) => (begun = resolve));
    const write = async (): Promise<void> => {
      while (!load.isOver && load.writes < writesMax) {
        load.writes += 1;
        // By then some changes are not reported yet.
        if (load.writes === 20 * writesAtOnce) begun();
        await writer.ask(writeCommand, writeBody(file, "x"));
      }
    };
    const writing = Array.from({ length: writesAtOnce }, write);
    await isBusy;
    const third = await WireClient.ready(held.server.smbUrl, share);
    load.isOver = true;
    await Promise.all(writing);
    expect(load.writes).toBeLessThan(writesMax);
    for (const client of [third, writer, watcher]) client.end();
  },
);
