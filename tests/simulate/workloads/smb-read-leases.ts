import { encodeContexts } from "../../../src/smb/wire/create.ts";
import {
  acknowledgeLease,
  byLease,
  leaseBits,
  leaseBreakIn,
  leaseContext,
} from "../../smb-wire/lease-messages.ts";
import type { Handle } from "../../smb-wire/wire-client.ts";
import { createBody } from "../../smb-wire/wire-messages.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { SmbConnection } from "../../verify/smb-connection.ts";
import { headerOf, type Sent } from "../../verify/wire.ts";
import { isFine, shareSetUp, type Setting, type Workload } from "../../verify/workload.ts";
import { untilDone } from "./last-step.ts";

type SharedInput =
  /** Over REST. */
  | { readonly action: "create" }
  | { readonly action: "write"; readonly value: string }
  /** Over SMB, through the handle with the lease. */
  | { readonly action: "put"; readonly value: string }
  /** From the cache of a client, while the server answers it. */
  | { readonly action: "cached"; readonly isLast?: boolean };

interface SharedOutput {
  readonly status: number;
  readonly code?: string;
  readonly value?: string;
}

type SharedOperation = Operation<SharedInput, SharedOutput>;

/** What a client caches. */
interface Cache {
  readonly key: string;
  readonly connection: SmbConnection;
  readonly handle: Handle;
  readonly leaseKey: Buffer;
  value: string;
  isBroken: boolean;
}

const name = "smb read leases";
const share = "simulate-read-leases";
const fileBytes = 48;
const keyBytes = 16;
const filesEach = 2;
/** Keys are used so long that caches of several clients are broken again and again. */
const epochsPerKey = 8;
const openExisting = 1;
const { read, handle: handleBit } = leaseBits;
const lastKeysMax = 5;
const lastPauseSeconds = 5;

/** How long a cache may be used after a later write: a node may be cut off from the database, and
 *  a process may be paused. Without faults a server notices at once. */
const lateMicrosecondsMax = 90_000_000;
const lastMicrosecondsMax = 3_000_000;

/** SMB clients that cache reads with leases, while others write over REST and SMB. */
export const smbReadLeases: Workload = {
  name,
  service: "file",
  check: (operations) =>
    [...byKey(operations as readonly SharedOperation[])].flatMap(([key, all]) =>
      staleReads(all).map((problem) => `${key}: ${problem}`),
    ),
  setUp: shareSetUp(share),
  client(setting) {
    const client = new CachingClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    for (const key of keys.slice(-lastKeysMax)) {
      await untilDone(setting, () => new CachingClient(setting).stepLast(key));
    }
  },
};

class CachingClient {
  readonly #setting: Setting;
  #connection: SmbConnection | undefined;
  #cache: Cache | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch, unique } = this.#setting;
    const cache = this.#cache;
    const isGone = cache?.isBroken === true || cache?.connection.isLost === true;
    const die = random.below(100);
    if (cache !== undefined && (isGone || die < 10)) return this.#leave(cache);
    if (cache !== undefined && die < 60) return this.#readCached(cache, {});
    if (cache !== undefined && die < 70) return this.#put(cache, unique());
    const key = `r${Math.floor(epoch() / epochsPerKey)}-${random.below(filesEach)}`;
    if (cache === undefined && die < 60) return this.#open(key);
    await this.#write(key, unique());
  }

  /** When everything works: another client's write breaks a cache at once. */
  async stepLast(key: string): Promise<void> {
    const { pause, unique } = this.#setting;
    await this.#write(key, unique());
    await this.#open(key);
    const cache = this.#cache;
    if (cache === undefined) return;
    await this.#write(key, unique());
    await pause?.(lastPauseSeconds);
    await this.#readCached(cache, { isLast: true });
    await this.#leave(cache);
    cache.connection.end();
  }

  async #connected(): Promise<SmbConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    const { smb } = this.#setting;
    if (smb === undefined) throw new Error("this workload runs in simulations only");
    const connection = await SmbConnection.open(smb, share);
    this.#connection = connection;
    void this.#hearBreaks(connection);
    return connection;
  }

  async #open(key: string): Promise<void> {
    const { random, unique } = this.#setting;
    const connection = await this.#connected();
    const state = random.pick([read, read | handleBit]);
    const leaseKey = Buffer.from(unique().padEnd(keyBytes, "-").slice(0, keyBytes), "latin1");
    const contexts = encodeContexts([leaseContext(leaseKey, state)]);
    const body = createBody(key, { disposition: openExisting, oplock: byLease, contexts });
    const { handle, lease = 0 } = await connection.create(body);
    if (handle === undefined) return;
    const cache = { key, connection, handle, leaseKey, value: "", isBroken: false };
    this.#cache = cache;
    const { value } = await connection.read(handle, fileBytes);
    if (value === undefined || (lease & read) === 0) return this.#leave(cache);
    cache.value = value.trimEnd();
  }

  async #leave(cache: Cache): Promise<void> {
    this.#cache = undefined;
    if (!cache.connection.isLost) await cache.connection.close(cache.handle);
  }

  async #readCached(cache: Cache, more: { readonly isLast?: true }): Promise<void> {
    const run = async (): Promise<SharedOutput> => {
      // Notifications that were sent before the response have arrived before it.
      const { status } = await cache.connection.echo();
      return cache.isBroken ? { status: 410 } : { status, value: cache.value };
    };
    await this.#record(cache.key, { action: "cached", ...more }, run);
  }

  async #put(cache: Cache, value: string): Promise<void> {
    const run = async (): Promise<SharedOutput> => {
      const { status } = await cache.connection.write(cache.handle, padded(value));
      if (isFine(status)) cache.value = value;
      return { status };
    };
    await this.#record(cache.key, { action: "put", value }, run);
    // Whether a write without a response took effect is not known.
    if (cache.value !== value) await this.#leave(cache);
  }

  async #write(key: string, value: string): Promise<void> {
    const output = await this.#perform(key, { action: "write", value });
    if (output?.status === 404) await this.#perform(key, { action: "create" });
  }

  #perform(key: string, input: Extract<SharedInput, { action: "create" | "write" }>) {
    return this.#record(key, input, async () => {
      const answer = await this.#setting.wire.send(requestOf(`/${share}/${key}`, input));
      return { status: answer.status, code: headerOf(answer, "x-ms-error-code") };
    });
  }

  async #hearBreaks(connection: SmbConnection): Promise<void> {
    const { client } = connection;
    for (let count = 1; ; count += 1) {
      const notice = (await client.noticed(count))[count - 1];
      const broken = notice && leaseBreakIn(notice);
      if (broken === undefined) return;
      if (this.#cache?.leaseKey.equals(broken.key) === true) this.#cache.isBroken = true;
      if (broken.needsAcknowledgement) {
        acknowledgeLease(client, broken.key, 0).catch(() => connection.end());
      }
    }
  }

  #record(key: string, input: SharedInput, run: () => Promise<SharedOutput>) {
    return this.#setting.recorder.record({ workload: name, key, input }, run);
  }
}

function padded(value: string): string {
  return value.padEnd(fileBytes, " ");
}

function requestOf(
  path: string,
  input: { readonly action: string; readonly value?: string },
): Sent {
  if (input.value === undefined) {
    const headers = { "x-ms-type": "file", "x-ms-content-length": String(fileBytes) };
    return { service: "file", method: "PUT", path, headers };
  }
  const headers = { "x-ms-write": "update", "x-ms-range": `bytes=0-${fileBytes - 1}` };
  const body = padded(input.value);
  return { service: "file", method: "PUT", path: `${path}?comp=range`, headers, body };
}

/** Uses of a cached value that another write had certainly replaced before, longer ago than it
 *  takes to notify a client. */
function staleReads(all: readonly SharedOperation[]): readonly string[] {
  const writes = all.filter(({ input }) => "value" in input);
  const isDone = ({ output }: SharedOperation): boolean => isFine(output?.status ?? 999);
  return all.flatMap(({ id, input, output, called }) => {
    if (input.action !== "cached" || output?.value === undefined) return [];
    const limit = input.isLast === true ? lastMicrosecondsMax : lateMicrosecondsMax;
    const written = writes.find(
      (each) => "value" in each.input && each.input.value === output.value,
    );
    const writtenBy = written === undefined ? 0 : written.returned;
    const later = writes.find(
      (each) =>
        each !== written &&
        isDone(each) &&
        each.called > writtenBy &&
        each.returned + limit < called,
    );
    if (later === undefined) return [];
    return [`${id} used ${output.value || "nothing"} from its cache, long after ${later.id}`];
  });
}
