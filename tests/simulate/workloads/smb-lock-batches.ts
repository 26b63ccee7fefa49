import type { Handle } from "../../smb-wire/wire-client.ts";
import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";
import { SmbConnection, type SmbAnswer } from "../../verify/smb-connection.ts";
import type { Sent } from "../../verify/wire.ts";
import { insist, isFine, shareSetUp, type Setting, type Workload } from "../../verify/workload.ts";
import { untilDone } from "./last-step.ts";

/** The parts of a file that a client locks, under a name that no other lock has. */
type BatchInput =
  | { readonly action: "lock"; readonly owner: string; readonly parts: readonly number[] }
  /** An unlock of some of them, or the close of the handle. */
  | { readonly action: "unlock"; readonly owner: string; readonly parts: readonly number[] }
  | { readonly action: "close"; readonly owner: string };

interface BatchOutput {
  readonly status: number;
  readonly code?: string;
}

type BatchOperation = Operation<BatchInput, BatchOutput>;

const name = "smb lock batches";
const share = "simulate-locks";
const filesEach = 1;
const partsMax = 4;
const partBytes = 10;
const epochsPerKey = 2;
const lockTriesMax = 3;
const pauseMillisecondsMax = 50;

interface Held {
  readonly key: string;
  readonly owner: string;
  readonly handle: Handle;
  readonly connection: SmbConnection;
  readonly parts: readonly number[];
}

/** SMB clients that lock several ranges of bytes with one request: all of them or none. */
export const smbLockBatches: Workload = {
  name,
  service: "file",
  check: checkLockBatches,
  setUp: shareSetUp(share),
  client(setting) {
    const client = new LockingClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    // All clients have gone, and their locks with them.
    const client = new LockingClient(setting);
    for (const key of keys) await untilDone(setting, () => client.lockLast(key));
  },
};

class LockingClient {
  readonly #setting: Setting;
  readonly #made = new Set<string>();
  #connection: SmbConnection | undefined;
  #held: Held | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch } = this.#setting;
    const held = this.#held;
    if (held !== undefined) return this.#release(held);
    const key = `l${Math.floor(epoch() / epochsPerKey)}-${random.below(filesEach)}`;
    const parts = [0, 1, 2, 3].filter(() => random.chance(0.5));
    // In any order: the first of a batch may be free and the last one taken.
    const chosen = random.chance(0.5) ? parts : parts.toReversed();
    await this.#lock(key, chosen.length > 0 ? chosen : [random.below(partsMax)]);
    if (this.#held?.connection.isLost === true) this.#held = undefined;
  }

  async lockLast(key: string): Promise<void> {
    await this.#lock(key, [0, 1, 2, 3]);
    const held = this.#held;
    if (held !== undefined) await this.#close(held);
  }

  async #lock(key: string, parts: readonly number[]): Promise<void> {
    const connection = await this.#connected();
    await this.#makeFile(key);
    const opened = await connection.openShared(key);
    const { handle } = opened;
    if (handle === undefined) return;
    const { pause, random, unique } = this.#setting;
    // A refused batch must have left nothing, also while its handle stays open.
    for (let tries = 0; tries < lockTriesMax && !connection.isLost; tries += 1) {
      const owner = unique();
      const run = () => connection.lockSpans(handle, spansOf(parts));
      const output = await this.#record(key, { action: "lock", owner, parts }, run);
      if (output === undefined || connection.isLost) return;
      if (isFine(output.status)) {
        this.#held = { key, owner, handle, connection, parts };
        return;
      }
      await pause?.(random.below(pauseMillisecondsMax) / 1000);
    }
    if (!connection.isLost) await connection.close(handle);
  }

  async #release(held: Held): Promise<void> {
    const { random } = this.#setting;
    const { key, owner, handle, connection, parts } = held;
    const die = random.below(100);
    if (die < 15) {
      this.#held = undefined;
      return connection.end();
    }
    if (die < 50 || parts.length === 0) return this.#close(held);
    const unlocked = parts.filter(() => random.chance(0.6));
    if (unlocked.length === 0) return;
    this.#held = { ...held, parts: parts.filter((part) => !unlocked.includes(part)) };
    const run = () => connection.lockSpans(handle, spansOf(unlocked), true);
    const input = { action: "unlock", owner, parts: unlocked } as const;
    const output = await this.#record(key, input, run);
    if (connection.isLost) this.#held = undefined;
    else if (!isFine(output?.status ?? 999)) await this.#close(held);
  }

  async #close({ key, owner, handle, connection }: Held): Promise<void> {
    this.#held = undefined;
    if (connection.isLost) return;
    await this.#record(key, { action: "close", owner }, () => connection.close(handle));
  }

  async #makeFile(key: string): Promise<void> {
    if (this.#made.has(key)) return;
    const headers = { "x-ms-type": "file", "x-ms-content-length": String(partsMax * partBytes) };
    const path = `/${share}/${key}`;
    const put: Sent = { service: "file", method: "PUT", path, headers };
    // Another client may have made it, and may have it open.
    const read: Sent = { service: "file", method: "HEAD", path };
    const isThere = isFine((await this.#setting.wire.send(read)).status);
    if (!isThere) await insist(() => this.#setting.wire.send(put), 201, 409);
    this.#made.add(key);
  }

  async #connected(): Promise<SmbConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    const { smb } = this.#setting;
    if (smb === undefined) throw new Error("this workload runs in simulations only");
    this.#connection = await SmbConnection.open(smb, share);
    return this.#connection;
  }

  #record(key: string, input: BatchInput, run: () => Promise<SmbAnswer>) {
    const answer = async (): Promise<BatchOutput> => {
      const { status, code } = await run();
      return code === undefined ? { status } : { status, code };
    };
    return this.#setting.recorder.record({ workload: name, key, input }, answer);
  }
}

function spansOf(parts: readonly number[]) {
  return parts.map((part) => ({ at: part * partBytes, length: partBytes }));
}

export function checkLockBatches(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly BatchOperation[])].flatMap(([key, all]) => {
    const known = [...all, ...departures(all)];
    return explain(checkLinearizable(model, known)).map((problem) => `${key}: ${problem}`);
  });
}

/** The locks of a client that has not closed its handle end with its connection, at any time after
 *  its last response. */
function departures(operations: readonly BatchOperation[]): readonly BatchOperation[] {
  const left = new Map<string, BatchOperation>();
  for (const operation of operations) {
    const { id, input, output, called, returned } = operation;
    if (input.action === "close" && isFine(output?.status ?? 999)) {
      left.delete(input.owner);
      continue;
    }
    const since = returned === Infinity ? called : returned;
    const closing: BatchInput = { action: "close", owner: input.owner };
    const unknown = { output: undefined, called: since, returned: Infinity };
    left.set(input.owner, { ...operation, id: `${id}-end`, input: closing, ...unknown });
  }
  return [...left.values()];
}

/** The owner of each part, empty if it is free. */
const model: Model<BatchInput, BatchOutput> = {
  initial: ",,,",
  step(text, input, output) {
    const status = output?.status ?? 200;
    if (status >= 500) return text;
    const owners = text.split(",");
    const isOwn = (part: number): boolean => owners[part] === input.owner;
    const without = (parts: readonly number[]): string =>
      owners.map((owner, part) => (parts.includes(part) ? "" : owner)).join();
    switch (input.action) {
      case "lock": {
        const isFree = input.parts.every((part) => owners[part] === "");
        if (output?.code === "FileClosed") return text;
        if (isFine(status) !== isFree && output !== undefined) return undefined;
        if (!isFree) return text;
        return owners
          .map((owner, part) => (input.parts.includes(part) ? input.owner : owner))
          .join();
      }
      case "unlock": {
        if (output?.code === "FileClosed") return text;
        const isHeld = input.parts.every(isOwn);
        if (isFine(status) !== isHeld && output !== undefined) return undefined;
        return isHeld ? without(input.parts) : text;
      }
      case "close":
        return without([0, 1, 2, 3].filter(isOwn));
    }
  },
};
