import { describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName } from "../harness/server.ts";
import { restAndSmb, codeOf } from "./rest-and-smb.ts";
import {
  Command,
  previousHandle,
  sendCompound,
  sendRename,
  statusesOf,
} from "./compound-messages.ts";
import { acknowledgeLease, leasedOpen } from "./lease-messages.ts";
import {
  acknowledgeOplock,
  close,
  closeBody,
  createBody,
  handleOf,
  lockBody,
  notifyBody,
  openFile,
  read,
  readBody,
  writeBody,
} from "./wire-messages.ts";

const { share, ready, restFile } = restAndSmb();

const asyncFlag = 2;
const batch = 9;
const cached = { read: 1, handle: 2, write: 4 };
const readAndHandle = cached.read | cached.handle;
const directoryOption = 1;
const exclusiveLock = 2;

const allDone = [Status.success, Status.success, Status.success];

describe("a compound request", () => {
  it("renames a file after its holder has closed its cached handle", async () => {
    const [keeper, mover] = [await ready(), await ready()];
    const { name, file } = await restFile();
    await leasedOpen(keeper, name, { state: readAndHandle, key: 1 });
    const to = freshName("moved");
    const elements = sendRename(mover, name, to);
    const interim = await mover.interim(1);
    expect(interim).toMatchObject({ status: Status.pending, command: Command.setInfo });
    expect(interim.flags & asyncFlag).toBe(asyncFlag);
    expect(interim.credits).toBeGreaterThan(0);
    expect((await elements[0]!.answer).status).toBe(Status.success);
    await keeper.noticed(1);
    await acknowledgeLease(keeper, 1, cached.read);
    expect(await statusesOf(elements)).toEqual(allDone);
    const final = await elements[1]!.answer;
    expect(final).toMatchObject({ asyncId: interim.asyncId, credits: 0 });
    expect(await codeOf(file.getProperties())).toBe("ResourceNotFound");
    expect(await codeOf(share().rootDirectoryClient.getFileClient(to).delete())).toBe(
      "SharingViolation",
    );
    keeper.end();
    mover.end();
  });

  it("renames over a file whose holder closes it on a break", async () => {
    const [keeper, mover] = [await ready(), await ready()];
    const [source, target] = [await restFile("new"), await restFile("old")];
    const held = await leasedOpen(keeper, target.name, { state: readAndHandle, key: 2 });
    const elements = sendRename(mover, source.name, target.name, true);
    await keeper.noticed(1);
    await close(keeper, held);
    expect(await statusesOf(elements)).toEqual(allDone);
    expect((await target.file.downloadToBuffer()).toString()).toBe("new");
    keeper.end();
    mover.end();
  });

  it("replaces a target that its holder keeps open", async () => {
    const [keeper, mover] = [await ready(), await ready()];
    const [source, target] = [await restFile("new"), await restFile("old")];
    const held = await leasedOpen(keeper, target.name, { state: readAndHandle, key: 4 });
    const elements = sendRename(mover, source.name, target.name, true);
    await keeper.noticed(1);
    await acknowledgeLease(keeper, 4, cached.read);
    expect(await statusesOf(elements)).toEqual(allDone);
    expect((await target.file.downloadToBuffer()).toString()).toBe("new");
    expect((await read(keeper, held, 3)).text).toBe("old");
    keeper.end();
    mover.end();
  });

  it("does not replace a target that its holder keeps open without sharing deletion", async () => {
    const [keeper, mover] = [await ready(), await ready()];
    const [source, target] = [await restFile("new"), await restFile("old")];
    await leasedOpen(keeper, target.name, { state: readAndHandle, key: 3, share: 3 });
    const elements = sendRename(mover, source.name, target.name, true);
    await keeper.noticed(1);
    await acknowledgeLease(keeper, 3, cached.read);
    expect(await statusesOf(elements)).toEqual([0, Status.accessDenied, 0]);
    expect((await target.file.downloadToBuffer()).toString()).toBe("old");
    keeper.end();
    mover.end();
  });

  it("waits in several elements, each with an interim response", async () => {
    const [keeper, locker] = [await ready(), await ready()];
    const { name } = await restFile();
    const opened = await keeper.ask(Command.create, createBody(name, { oplock: batch }));
    const held = handleOf(opened);
    await keeper.ask(Command.lock, lockBody(held, { at: 0, length: 4, flags: exclusiveLock }));
    const elements = sendCompound(locker, [
      [Command.create, createBody(name)],
      [Command.lock, lockBody(previousHandle, { at: 0, length: 1, flags: exclusiveLock })],
      [Command.write, writeBody(previousHandle, "after")],
      [Command.read, readBody(previousHandle, 5)],
      [Command.close, closeBody(previousHandle)],
    ]);
    await keeper.noticed(1);
    expect(await locker.interim(1)).toMatchObject({ command: Command.create });
    await acknowledgeOplock(keeper, held, 1);
    expect(await locker.interim(2)).toMatchObject({ command: Command.lock });
    await close(keeper, held);
    expect(await statusesOf(elements)).toEqual([0, 0, 0, 0, 0]);
    const { message } = await elements[3]!.answer;
    expect(message.subarray(80, 85).toString()).toBe("after");
    keeper.end();
    locker.end();
  });

  it("continues with the handle after an element was cancelled", async () => {
    const [keeper, locker] = [await ready(), await ready()];
    const { name } = await restFile();
    const held = await openFile(keeper, name);
    await keeper.ask(Command.lock, lockBody(held, { at: 0, length: 4, flags: exclusiveLock }));
    const elements = sendCompound(locker, [
      [Command.create, createBody(name)],
      [Command.lock, lockBody(previousHandle, { at: 0, length: 1, flags: exclusiveLock })],
      [Command.read, readBody(previousHandle, 2, 6)],
      [Command.close, closeBody(previousHandle)],
    ]);
    const { asyncId } = await locker.interim(1);
    locker.cancel(asyncId, elements[1]!.messageId);
    expect(await statusesOf(elements)).toEqual([0, Status.cancelled, 0, 0]);
    keeper.end();
    locker.end();
  });

  it("lets its client acknowledge the break that it waits for", async () => {
    const client = await ready();
    const { name } = await restFile();
    await leasedOpen(client, name, { state: readAndHandle, key: 4 });
    const elements = sendRename(client, name, freshName("own"));
    await client.noticed(1);
    await acknowledgeLease(client, 4, cached.read);
    expect(await statusesOf(elements)).toEqual(allDone);
    client.end();
  });

  it("is cancelled with its connection and leaves nothing open", async () => {
    const [keeper, mover] = [await ready(), await ready()];
    const { name, file } = await restFile();
    const held = await leasedOpen(keeper, name, { state: readAndHandle, key: 5 });
    sendRename(mover, name, freshName("never"));
    await mover.interim(1);
    mover.end();
    await mover.closed;
    await close(keeper, held);
    await expect.poll(() => codeOf(file.delete())).toBe("done");
    keeper.end();
  });

  it("rejects a CHANGE_NOTIFY that is not its last element", async () => {
    const client = await ready();
    const directory = freshName("watched");
    const elements = sendCompound(client, [
      [Command.create, createBody(directory, { options: directoryOption })],
      [Command.notify, notifyBody(previousHandle)],
      [Command.close, closeBody(previousHandle)],
    ]);
    expect(await statusesOf(elements)).toEqual([0, Status.internalError, 0]);
    client.end();
  });
});
