import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { freshName, testServer } from "../harness/server.ts";
import { elsewhere } from "./rest-and-smb.ts";
import { WireClient, type Handle } from "./wire-client.ts";
import { Access, close, notifyBody, openFile } from "./wire-messages.ts";

const folder = temporaryFolder();
const held = testServer({ location: folder });

let shareName = "";
let share: ShareClient;

beforeAll(async () => {
  shareName = freshName("notices");
  share = ShareServiceClient.fromConnectionString(held.server.connectionString).getShareClient(
    shareName,
  );
  await share.create();
});

const everything = 0x17f;
const directoryOption = 1;
const actions = ["", "added", "removed", "modified", "old name", "new name"];

/** The changes of one CHANGE_NOTIFY response, as text. */
function changesIn(message: Buffer): readonly string[] {
  const found: string[] = [];
  const start = message.readUInt16LE(66);
  for (let at = start; at < message.length;) {
    const next = message.readUInt32LE(at);
    const length = message.readUInt32LE(at + 8);
    const name = message.subarray(at + 12, at + 12 + length).toString("utf16le");
    found.push(`${actions[message.readUInt32LE(at + 4)]} ${name}`);
    if (next === 0) break;
    at += next;
  }
  return found;
}

/** Repeats CHANGE_NOTIFY until this many changes were received. */
async function hear(client: WireClient, handle: Handle, count: number): Promise<readonly string[]> {
  const heard: string[] = [];
  while (heard.length < count) {
    const { message } = await client.ask(15, notifyBody(handle, everything));
    heard.push(...changesIn(message));
  }
  return heard;
}

/** A client with an active watch on a new directory. */
async function listener(name: string): Promise<{ client: WireClient; handle: Handle }> {
  const client = await WireClient.ready(held.server.smbUrl, shareName);
  // A directory opened with delete access blocks renames in it.
  const options = { access: Access.read, options: directoryOption };
  const handle = await openFile(client, name, options);
  const first = client.begin(15, notifyBody(handle, everything));
  const { asyncId } = await client.interim(1);
  client.cancel(asyncId, first.messageId);
  await first.answer;
  return { client, handle };
}

describe("an SMB client with a CHANGE_NOTIFY on a directory", () => {
  it("receives changes made over REST, in order", async () => {
    const { client, handle } = await listener("watched");
    const directory = share.getDirectoryClient("watched");
    const file = directory.getFileClient("file.txt");
    await file.create(4);
    await file.uploadRange("text", 0, 4);
    await file.setMetadata({ a: "b" });
    await file.resize(9);
    await file.rename("watched/renamed.txt");
    await directory.getFileClient("renamed.txt").delete();
    await directory.getDirectoryClient("below").create();
    expect(await hear(client, handle, 8)).toEqual([
      "added file.txt",
      "modified file.txt",
      "modified file.txt",
      "modified file.txt",
      "old name file.txt",
      "new name renamed.txt",
      "removed renamed.txt",
      "added below",
    ]);
    client.end();
  });

  it("receives changes of another SMB client once", async () => {
    const { client, handle } = await listener("once");
    const other = await WireClient.ready(held.server.smbUrl, shareName);
    await close(other, await openFile(other, "once\\smb.txt"));
    await share.getDirectoryClient("once").getFileClient("rest.txt").create(1);
    expect(await hear(client, handle, 2)).toEqual(["added smb.txt", "added rest.txt"]);
    client.end();
    other.end();
  });

  it("receives a move between directories as removed and added", async () => {
    const { client, handle } = await listener("from");
    await share.getDirectoryClient("to").create();
    const file = share.getDirectoryClient("from").getFileClient("moves.txt");
    await file.create(1);
    await file.rename("to/moves.txt");
    expect(await hear(client, handle, 2)).toEqual(["added moves.txt", "removed moves.txt"]);
    client.end();
  });

  it("receives changes made by another process", async () => {
    const { client, handle } = await listener("shared");
    const other = (await elsewhere(folder)).getShareClient(shareName);
    const directory = other.getDirectoryClient("shared");
    await directory.getFileClient("from-afar.txt").create(1);
    expect(await hear(client, handle, 1)).toEqual(["added from-afar.txt"]);
    client.end();
  });
});
