import type { Handle } from "../../smb-wire/wire-client.ts";
import { SmbConnection, socketTransport } from "../smb-connection.ts";
import { checkSmbLocks, rangeLocked, type SmbLockInput, type SmbLockOutput } from "../smb-locks.ts";
import { headerOf, type Sent } from "../wire.ts";
import { isFine, shareSetUp, type Setting, type Workload } from "../workload.ts";

const name = "smb lock";
const share = "verify-smb";
const fileBytes = 48;
const filesEach = 2;

/** A handle that has the file, as far as its client knows. */
interface Held {
  readonly key: string;
  readonly name: string;
  readonly handle: Handle;
  readonly connection: SmbConnection;
  isMarked: boolean;
}

/**
 * SMB clients that open files exclusively, lock them and mark them for deletion, with REST clients.
 */
export const smbLock: Workload = {
  name,
  service: "file",
  check: checkSmbLocks,
  setUp: shareSetUp(share),
  client(setting) {
    const client = new SmbLockClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read" });
  },
};

class SmbLockClient {
  readonly #setting: Setting;
  #connection: SmbConnection | undefined;
  #held: Held | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch, unique } = this.#setting;
    const held = this.#held;
    if (held !== undefined) return this.#useHeld(held);
    const kind = random.chance(0.5) ? rangeLocked : "o";
    const key = `${kind}${epoch()}-${random.below(filesEach)}`;
    const die = random.below(100);
    if (die < 30) return this.#ensure(key, { action: "read" });
    if (die < 60) return this.#ensure(key, { action: "write", value: unique() });
    await this.#take(key);
  }

  /** Creates the file if it is absent. */
  async #ensure(key: string, input: SmbLockInput): Promise<void> {
    const output = await perform(this.#setting, key, input);
    if (output?.status === 404) await perform(this.#setting, key, { action: "create" });
  }

  async #take(key: string): Promise<void> {
    const { recorder, server, unique } = this.#setting;
    if (this.#connection?.isLost !== false) {
      this.#connection = await SmbConnection.open(socketTransport(server().smb), share);
    }
    const connection = this.#connection;
    const isRange = key.startsWith(rangeLocked);
    const shared = isRange ? await connection.openShared(key) : undefined;
    if (shared !== undefined && shared.handle === undefined) return;
    const own = unique();
    const input: SmbLockInput = { action: "take", handle: own };
    let handle = shared?.handle;
    const run = async (): Promise<SmbLockOutput> => {
      if (handle !== undefined) return connection.lock(handle, fileBytes);
      const opened = await connection.openAlone(key);
      handle = opened.handle;
      return outputOf(opened);
    };
    const output = await recorder.record({ workload: name, key, input }, run);
    if (output === undefined) await this.#lose(key, own);
    else if (handle !== undefined && isFine(output.status)) {
      this.#held = { key, name: own, handle, connection, isMarked: false };
    } else if (handle !== undefined) await connection.close(handle);
  }

  async #useHeld(held: Held): Promise<void> {
    const { random, unique } = this.#setting;
    const { key, name: handle, connection } = held;
    const die = random.below(100);
    if (die < 35) {
      const value = unique();
      const write = () => connection.write(held.handle, padded(value));
      return this.#ask(held, { action: "put", handle, value }, write);
    }
    if (die < 60 && !key.startsWith(rangeLocked)) {
      const isPending = !held.isMarked;
      held.isMarked = isPending;
      const mark = () => connection.mark(held.handle, isPending);
      return this.#ask(held, { action: "mark", handle, isPending }, mark);
    }
    if (die < 65) return this.#hangUp(held);
    await this.#ask(held, { action: "leave", handle }, () => connection.close(held.handle));
    this.#held = undefined;
  }

  async #ask(held: Held, input: SmbLockInput, run: () => Promise<SmbLockOutput>): Promise<void> {
    const { recorder } = this.#setting;
    const { key } = held;
    const answer = async (): Promise<SmbLockOutput> => outputOf(await run());
    const output = await recorder.record({ workload: name, key, input }, answer);
    if (output === undefined && input.action !== "leave") await this.#lose(key, held.name);
  }

  /** A client that disconnects without closing. */
  async #hangUp({ key, connection, name: own }: Held): Promise<void> {
    connection.end();
    await this.#lose(key, own);
  }

  /** The server closes it when it notices the disconnect. */
  async #lose(key: string, handle: string): Promise<void> {
    this.#held = undefined;
    const input: SmbLockInput = { action: "leave", handle };
    const never = () => Promise.reject(new Error("no response will come"));
    await this.#setting.recorder.record({ workload: name, key, input }, never);
  }
}

function outputOf({ status, code }: SmbLockOutput): SmbLockOutput {
  return code === undefined ? { status } : { status, code };
}

function padded(value: string): string {
  return value.padEnd(fileBytes, " ");
}

function perform(setting: Setting, key: string, input: SmbLockInput) {
  const run = async (): Promise<SmbLockOutput> => {
    const answer = await setting.wire.send(requestOf(`/${share}/${key}`, input));
    const { status, text } = answer;
    if (!isFine(status)) return { status, code: headerOf(answer, "x-ms-error-code") };
    return input.action === "read" ? { status, value: text.replace(/[ \0]+$/, "") } : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: SmbLockInput): Sent {
  if (input.action === "create") {
    const headers = { "x-ms-type": "file", "x-ms-content-length": String(fileBytes) };
    return { service: "file", method: "PUT", path, headers };
  }
  if (input.action !== "write") return { service: "file", method: "GET", path };
  const headers = { "x-ms-write": "update", "x-ms-range": `bytes=0-${fileBytes - 1}` };
  return {
    service: "file",
    method: "PUT",
    path: `${path}?comp=range`,
    headers,
    body: padded(input.value),
  };
}
