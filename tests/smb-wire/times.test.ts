import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient, type Handle } from "./wire-client.ts";
import { Access, close, openFile, renameInfo, setInfo, write } from "./wire-messages.ts";

const held = testServer();
let share: ShareClient;

beforeAll(async () => {
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  share = service.getShareClient(freshName("times"));
  await share.create();
});

const basicClass = 4;
const ticksPerMillisecond = 10_000n;
const millisecondsBefore1970 = 11_644_473_600_000n;

function fileTime(iso: string): bigint {
  return (BigInt(Date.parse(iso)) + millisecondsBefore1970) * ticksPerMillisecond;
}

/** Zero leaves a time unchanged. */
function basic(times: readonly bigint[], attributes: number): Buffer {
  const writer = new Writer();
  for (const time of times) writer.u64(time);
  return writer.u32(attributes).u32(0).finish();
}

async function timesOf(client: WireClient, { persistent, volatile }: Handle) {
  const head = new Writer().u16(41).u8(1).u8(basicClass).u32(40).zeros(16);
  const body = head.u64(persistent).u64(volatile).zeros(1).finish();
  const { message } = await client.ask(16, body);
  return [0, 8, 16, 24].map((at) => message.readBigUInt64LE(72 + at));
}

describe("the times of a file", () => {
  const wanted = ["2020-01-01", "2020-02-02", "2020-03-03", "2020-04-04"].map(fileTime);

  it("are those that a client set, over SMB and REST", async () => {
    const client = await WireClient.ready(held.server.smbUrl, share.name);
    const file = await openFile(client, "dated.txt");
    const answer = await setInfo(client, file, basicClass, basic(wanted, 0));
    expect(answer.status).toBe(Status.success);
    expect(await timesOf(client, file)).toEqual(wanted);
    // A handle that has set the change time keeps it, whatever else it changes.
    await setInfo(client, file, basicClass, basic([0n, 0n, 0n, 0n], 0x2));
    expect(await timesOf(client, file)).toEqual(wanted);
    await close(client, file);
    client.end();
    const listing = share.rootDirectoryClient.listFilesAndDirectories({ includeTimestamps: true });
    const { value } = await listing.next();
    expect(value).toMatchObject({
      name: "dated.txt",
      properties: {
        creationTime: new Date("2020-01-01"),
        lastAccessTime: new Date("2020-02-02"),
        lastWriteTime: new Date("2020-03-03"),
      },
    });
  });

  it("are updated again for the next handle", async () => {
    const client = await WireClient.ready(held.server.smbUrl, share.name);
    const file = await openFile(client, "dated.txt");
    await setInfo(client, file, basicClass, basic([0n, 0n, 0n, 0n], 0x20));
    const [created, accessed, , changed] = await timesOf(client, file);
    expect([created, accessed]).toEqual(wanted.slice(0, 2));
    expect(changed).not.toBe(wanted[3]);
    await close(client, file);
    client.end();
  });
});

describe("the times of a directory", () => {
  const directoryOption = 1;
  const deleteOnClose = 0x1000;
  const renameClass = 10;

  async function watchedDirectory() {
    const client = await WireClient.ready(held.server.smbUrl, share.name);
    const directory = share.getDirectoryClient(freshName("dated"));
    await directory.create();
    const at = (name: string) => `${directory.name}\\${name}`;
    const times = async () => {
      const handle = await openFile(client, directory.name, {
        access: Access.look,
        options: directoryOption,
      });
      const [, , lastWrite, change] = await timesOf(client, handle);
      await close(client, handle);
      return { lastWrite: lastWrite!, change: change! };
    };
    return { client, directory, at, times };
  }

  it("change when SMB clients add, rename or remove entries", async () => {
    const { client, directory, at, times } = await watchedDirectory();
    const { etag, lastModified } = await directory.getProperties();
    const steps = {
      add: async () => close(client, await openFile(client, at("new"))),
      "add a directory": async () =>
        close(client, await openFile(client, at("below"), { options: directoryOption })),
      rename: async () => {
        const file = await openFile(client, at("new"));
        await setInfo(client, file, renameClass, renameInfo(at("renamed")));
        await close(client, file);
      },
      "move out": async () => {
        const file = await openFile(client, at("renamed"));
        await setInfo(client, file, renameClass, renameInfo(`${directory.name}.out`));
        await close(client, file);
      },
      "move in": async () => {
        const file = await openFile(client, `${directory.name}.out`);
        await setInfo(client, file, renameClass, renameInfo(at("back")));
        await close(client, file);
      },
      remove: async () =>
        close(client, await openFile(client, at("back"), { options: deleteOnClose })),
    };
    const follows: Record<string, boolean> = {};
    for (const [name, step] of Object.entries(steps)) {
      const before = await times();
      await step();
      const after = await times();
      follows[name] = after.lastWrite > before.lastWrite && after.change > before.change;
    }
    expect(follows).toEqual(Object.fromEntries(Object.keys(steps).map((name) => [name, true])));
    // As on the service: changes of entries do not change the directory's times.
    expect(await directory.getProperties()).toMatchObject({ etag, lastModified });
    client.end();
  });

  it("do not change when an entry is written, nor when REST adds or removes one", async () => {
    const { client, directory, at, times } = await watchedDirectory();
    const file = await openFile(client, at("file"));
    const before = await times();
    await write(client, file, "text");
    await close(client, file);
    await directory.getFileClient("other").create(1);
    await directory.getFileClient("other").rename(`${directory.name}/another`);
    await directory.getFileClient("another").delete();
    expect(await times()).toEqual(before);
    client.end();
  });
});
