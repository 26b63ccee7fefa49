import { ContextName, encodeContexts, type CreateContext } from "../../../src/smb/wire/create.ts";
import { Writer } from "../../../src/smb/wire/buffers.ts";
import {
  acknowledgeLease,
  byLease,
  leaseBits,
  leaseBreakIn,
  leaseContext,
} from "../../smb-wire/lease-messages.ts";
import type { Answered, Handle } from "../../smb-wire/wire-client.ts";
import { acknowledgeOplock, createBody, shareAll } from "../../smb-wire/wire-messages.ts";
import { SmbConnection, type SmbAnswer } from "../../verify/smb-connection.ts";
import { headerOf, type Sent } from "../../verify/wire.ts";
import { isFine, shareSetUp, type Setting, type Workload } from "../../verify/workload.ts";
import { checkSmbFiles, kinds, type SmbFileInput, type SmbFileOutput } from "./smb-files-check.ts";

const name = "smb files";
const share = "simulate-smb";
const fileBytes = 48;
const filesEach = 2;
const batch = 9;
const openExisting = 1;
const guidBytes = 16;
/** Where the notification of an oplock break has its handle. */
const noticeHandleOffset = 72;

/** A handle that has the file, as far as its client knows. */
interface Held {
  readonly key: string;
  /** Also gives its lease a key of its own. */
  readonly name: string;
  readonly handle: Handle;
  readonly connection: SmbConnection;
}

/** SMB clients that open files exclusively with durable handles, lock them or cache them with
 *  oplocks and leases, lose connections and return, with REST clients. */
export const smbFiles: Workload = {
  name,
  service: "file",
  check: checkSmbFiles,
  setUp: shareSetUp(share),
  client(setting) {
    const client = new SmbFileClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read", isLast: true });
  },
};

class SmbFileClient {
  readonly #setting: Setting;
  /** Leases and durable handles with leases belong to it. */
  #guid: Buffer | undefined;
  #connection: SmbConnection | undefined;
  #held: Held | undefined;
  /** The open or resumption of a handle that runs, or the last one. */
  #opening: Promise<void> = Promise.resolve();
  /** Its connection was lost, and its handle was durable. */
  #lost: Held | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch, unique } = this.#setting;
    if (this.#held?.connection.isLost === true) this.#lose(this.#held);
    const [held, lost] = [this.#held, this.#lost];
    if (held !== undefined) return this.#useHeld(held);
    if (lost !== undefined) return (this.#opening = this.#resume(lost));
    const key = `${random.pick(Object.values(kinds))}${epoch()}-${random.below(filesEach)}`;
    const die = random.below(100);
    if (die < 30) return this.#ensure(key, { action: "read" });
    if (die < 60) return this.#ensure(key, { action: "write", value: unique() });
    await (this.#opening = this.#take(key));
  }

  /** Creates the file if it is absent. */
  async #ensure(key: string, input: SmbFileInput): Promise<void> {
    const output = await perform(this.#setting, key, input);
    if (output?.status === 404) await perform(this.#setting, key, { action: "create" });
  }

  async #connected(): Promise<SmbConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    const { smb } = this.#setting;
    if (smb === undefined) throw new Error("this workload runs in simulations only");
    this.#guid ??= Buffer.from(this.#setting.unique().padEnd(guidBytes).slice(0, guidBytes));
    const connection = await SmbConnection.open(smb, share, this.#guid);
    this.#connection = connection;
    void this.#acknowledgeBreaks(connection);
    return connection;
  }

  async #take(key: string): Promise<void> {
    const connection = await this.#connected();
    const own = this.#setting.unique();
    let opened: SmbAnswer | undefined;
    if (key.startsWith(kinds.locked)) {
      opened = await connection.openShared(key);
      if (opened.handle === undefined) return;
    }
    const run = async (): Promise<SmbAnswer> => {
      if (opened?.handle !== undefined) return connection.lock(opened.handle, fileBytes);
      opened = await connection.create(openBody(key, own));
      // Another open was there: this one caches nothing and excludes no other.
      return opened.handle === undefined || excludes(key, opened) ? opened : { status: 503 };
    };
    const output = await this.#record(key, { action: "take", handle: own }, run);
    const handle = opened?.handle;
    if (handle === undefined || connection.isLost) return;
    if (output !== undefined && isFine(output.status)) {
      this.#held = { key, name: own, handle, connection };
    } else await connection.close(handle);
  }

  async #useHeld(held: Held): Promise<void> {
    const { random, unique } = this.#setting;
    const { key, name: handle, connection } = held;
    const die = random.below(100);
    if (die < 40) {
      const value = unique();
      const write = () => connection.write(held.handle, padded(value));
      // A write through a cached handle is the last one: it may break other caches.
      await this.#record(key, { action: "put", handle, value }, write);
      return;
    }
    if (die < 55) {
      connection.end();
      return this.#lose(held);
    }
    this.#held = undefined;
    await this.#record(key, { action: "leave", handle }, () => connection.close(held.handle));
  }

  #lose(held: Held): void {
    this.#held = undefined;
    this.#lost = durable.has(held.key.charAt(0)) ? held : undefined;
  }

  async #resume(lost: Held): Promise<void> {
    this.#lost = undefined;
    const { key, name: handle } = lost;
    const connection = await this.#connected();
    let opened: SmbAnswer | undefined;
    const run = async (): Promise<SmbAnswer> => {
      opened = await connection.create(resumeBody(key, lost));
      return opened.handle === undefined || excludes(key, opened) ? opened : { status: 503 };
    };
    const output = await this.#record(key, { action: "resume", handle }, run);
    if (output === undefined || opened?.handle === undefined) return;
    if (isFine(output.status)) this.#held = { ...lost, handle: opened.handle, connection };
    else await connection.close(opened.handle);
  }

  /** A client that caches a file gives the cache up when the server asks for it. */
  async #acknowledgeBreaks(connection: SmbConnection): Promise<void> {
    const { client } = connection;
    for (let count = 1; ; count += 1) {
      const notices = await client.noticed(count);
      const notice = notices[count - 1];
      if (notice === undefined) return;
      this.#giveUp(connection, notice).catch(() => connection.end());
    }
  }

  async #giveUp(connection: SmbConnection, notice: Answered): Promise<void> {
    // A notice can follow the response to an open at once, before this client knows its handle.
    await this.#opening.catch(() => undefined);
    const leaseBreak = leaseBreakIn(notice);
    const held = this.#held;
    const isHeld = held !== undefined && isOf(held, notice);
    const run = async (): Promise<SmbAnswer> => {
      const { client } = connection;
      const { status } =
        leaseBreak === undefined
          ? await acknowledgeOplock(client, brokenHandle(notice), 0)
          : await acknowledgeLease(client, leaseBreak.key, 0);
      return { status: status === 0 ? 200 : 409 };
    };
    // Of a break without an acknowledgement the client only learns.
    const isAsked = leaseBreak?.needsAcknowledgement !== false;
    if (!isHeld) return void (isAsked && (await run()));
    this.#held = undefined;
    if (isAsked) await this.#record(held.key, { action: "leave", handle: held.name }, run);
    if (!connection.isLost) await connection.close(held.handle);
  }

  #record(key: string, input: SmbFileInput, run: () => Promise<SmbAnswer>) {
    const answer = async (): Promise<SmbFileOutput> => {
      const { status, code } = await run();
      return code === undefined ? { status } : { status, code };
    };
    return this.#setting.recorder.record({ workload: name, key, input }, answer);
  }
}

/** Kinds with durable handles, which another connection can resume. */
const durable: ReadonlySet<string> = new Set([kinds.alone, kinds.aloneGuid, kinds.leasedHandle]);
/** Kinds whose opens share nothing. */
const unshared: ReadonlySet<string> = new Set([kinds.alone, kinds.aloneGuid]);
/** How long a durable handle of version 2 is kept without a connection. */
const keptMilliseconds = 20_000;
const { read, write, handle } = leaseBits;
const leaseStates = new Map<string, number>([
  [kinds.leased, read | write],
  [kinds.leasedHandle, read | write | handle],
]);

/** Whether an open keeps others away: they are refused, or wait until its cache is broken. */
function excludes(key: string, { oplock, lease = 0 }: SmbAnswer): boolean {
  const kind = key.charAt(0);
  if (unshared.has(kind) || kind === kinds.locked) return true;
  return leaseStates.has(kind) ? (lease & write) !== 0 : oplock === batch;
}

function brokenHandle({ message }: Answered): Handle {
  return {
    persistent: message.readBigUInt64LE(noticeHandleOffset),
    volatile: message.readBigUInt64LE(noticeHandleOffset + 8),
  };
}

/** Whether a break notification is about the cache of a handle. */
function isOf({ key, name: own, handle: held }: Held, notice: Answered): boolean {
  const leaseBreak = leaseBreakIn(notice);
  if (leaseBreak !== undefined) return leaseBreak.key.equals(leaseKey(own));
  return key.startsWith(kinds.cached) && held.persistent === brokenHandle(notice).persistent;
}

/** The key of the lease of a handle. */
function leaseKey(own: string): Buffer {
  return Buffer.from(own.padEnd(guidBytes, "-").slice(0, guidBytes), "latin1");
}

function leaseContexts(key: string, own: string): readonly CreateContext[] {
  const state = leaseStates.get(key.charAt(0));
  return state === undefined ? [] : [leaseContext(leaseKey(own), state)];
}

function openBody(key: string, own: string): Buffer {
  const kind = key.charAt(0);
  const request = durableRequest(kind, own);
  const contexts = [...(durable.has(kind) ? [request] : []), ...leaseContexts(key, own)];
  return createBody(key, {
    share: unshared.has(kind) ? 0 : shareAll,
    disposition: openExisting,
    oplock: leaseStates.has(kind) ? byLease : batch,
    contexts: contexts.length === 0 ? Buffer.alloc(0) : encodeContexts(contexts),
  });
}

function durableRequest(kind: string, own: string): CreateContext {
  if (kind !== kinds.aloneGuid) return { name: ContextName.durable, data: Buffer.alloc(16) };
  const head = new Writer(16).u32(keptMilliseconds).finish();
  const data = Buffer.concat([head, Buffer.alloc(16 - head.length), createGuid(own)]);
  return { name: ContextName.durable2, data };
}

function createGuid(own: string): Buffer {
  return Buffer.from(own.padEnd(guidBytes, "+").slice(0, guidBytes), "latin1");
}

function resumeBody(key: string, { name: own, handle: { persistent, volatile } }: Held): Buffer {
  const id = new Writer(16).u64(persistent).u64(volatile).finish();
  const context = key.startsWith(kinds.aloneGuid)
    ? {
        name: ContextName.durable2Reconnect,
        data: Buffer.concat([id, createGuid(own), Buffer.alloc(4)]),
      }
    : { name: ContextName.durableReconnect, data: id };
  const contexts = encodeContexts([context, ...leaseContexts(key, own)]);
  return createBody(key, { oplock: leaseStates.has(key.charAt(0)) ? byLease : batch, contexts });
}

function padded(value: string): string {
  return value.padEnd(fileBytes, " ");
}

function perform(setting: Setting, key: string, input: SmbFileInput) {
  const run = async (): Promise<SmbFileOutput> => {
    const answer = await setting.wire.send(requestOf(`/${share}/${key}`, input));
    const { status, text } = answer;
    if (!isFine(status)) return { status, code: headerOf(answer, "x-ms-error-code") };
    return input.action === "read" ? { status, value: text.replace(/[ \0]+$/, "") } : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: SmbFileInput): Sent {
  if (input.action === "create") {
    const headers = { "x-ms-type": "file", "x-ms-content-length": String(fileBytes) };
    return { service: "file", method: "PUT", path, headers };
  }
  if (input.action !== "write") return { service: "file", method: "GET", path };
  const headers = { "x-ms-write": "update", "x-ms-range": `bytes=0-${fileBytes - 1}` };
  const body = padded(input.value);
  return { service: "file", method: "PUT", path: `${path}?comp=range`, headers, body };
}
