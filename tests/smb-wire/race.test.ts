import { RestError, ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import { close, createBody, handleOf, openFile, read, write } from "./wire-messages.ts";

const held = testServer();
let shareName = "";
let share: ShareClient;

beforeAll(async () => {
  shareName = freshName("race");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString, {
    retryOptions: { maxTries: 1 },
  });
  share = service.getShareClient(shareName);
  await share.create();
});

const clients = 6;
const turnsEach = 15;
const triesMax = 10_000;
const width = 6;

/** Increments under an exclusive open; the number is text of a fixed width. */
async function addOne(client: WireClient): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const opened = await client.ask(5, createBody("counter", { share: 0 }));
    if (opened.status === Status.sharingViolation) continue;
    expect(opened.status).toBe(Status.success);
    const handle = handleOf(opened);
    const { text } = await read(client, handle, width);
    await write(client, handle, String(Number(text) + 1).padStart(width, "0"));
    await close(client, handle);
    return;
  }
  throw new Error("never got a turn");
}

/**
 * Writes garbage over REST whenever no client has the file open; an exclusive opener must never
 * read it.
 */
async function disturb(isOver: () => boolean): Promise<number> {
  const file = share.rootDirectoryClient.getFileClient("counter");
  let refused = 0;
  while (!isOver()) {
    try {
      await file.setMetadata({ a: "b" });
    } catch (error) {
      if (!(error instanceof RestError) || error.code !== "SharingViolation") throw error;
      refused += 1;
    }
  }
  return refused;
}

describe("many SMB clients and REST on one file", () => {
  it("lose no update and leave no handle open", async () => {
    const first = await WireClient.ready(held.server.smbUrl, shareName);
    const made = await openFile(first, "counter");
    await write(first, made, "0".padStart(width, "0"));
    await close(first, made);
    let isOver = false;
    const rest = disturb(() => isOver);
    await Promise.all(
      Array.from({ length: clients }, async () => {
        const client = await WireClient.ready(held.server.smbUrl, shareName);
        for (let turn = 0; turn < turnsEach; turn += 1) await addOne(client);
        client.end();
      }),
    );
    isOver = true;
    await rest;
    const end = await openFile(first, "counter");
    expect(Number((await read(first, end, width)).text)).toBe(clients * turnsEach);
    await close(first, end);
    const handles: string[] = [];
    for await (const each of share.rootDirectoryClient.listHandles({ recursive: true })) {
      handles.push(each.path);
    }
    expect(handles).toEqual([]);
    first.end();
  });

  it("agree on one order of renames and deletes of a name", async () => {
    const all = await Promise.all(
      Array.from({ length: clients }, () => WireClient.ready(held.server.smbUrl, shareName)),
    );
    const create = 2;
    const deleteOnClose = 0x1000;
    const outcomes = await Promise.all(
      all.map(async (client) => {
        const body = createBody("one-name", { disposition: create, options: deleteOnClose });
        const opened = await client.ask(5, body);
        return { client, opened };
      }),
    );
    const winners = outcomes.filter(({ opened }) => opened.status === Status.success);
    expect(winners).toHaveLength(1);
    for (const { client, opened } of winners) await close(client, handleOf(opened));
    const gone = await all[0]!.ask(5, createBody("one-name", { disposition: 1 }));
    expect(gone.status).toBe(Status.objectNameNotFound);
    for (const client of all) client.end();
  });
});
