import { defineTable, internalRecord, recordCodec } from "../encoding/table.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import { readAll, type LiveProcess, type Processes } from "./processes.ts";
import { NodeFenced, StoreUnavailable, type Store } from "./store.ts";

/** The list of server nodes that share a PostgreSQL database. A node that stops without closing
 *  leaves opens and locks behind. The remaining nodes notice the missing heartbeats, bar the node
 *  from committing (fencing) and remove what it left. `data/storage-backends.ts` opens it;
 *  processes on one machine have `processes.ts` instead. */

interface NodesOptions {
  /** The key space of the database for records that live no longer than their nodes. */
  readonly store: Store;
  /** Unique id of this run of the node; never reused. */
  readonly self: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Fences a server node: it can never commit again. Only after that may other nodes treat it as
   *  ended. */
  readonly fence: (node: string) => Promise<void>;
  /** Throws `NodeFenced` if another node has fenced this one, `StoreUnavailable` if the database is
   *  unreachable. A node without requests commits nothing and would not notice it otherwise. */
  readonly assertNotFenced: () => Promise<void>;
}

interface NodeRecord {
  /** Counter that each heartbeat increases. */
  readonly beat: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The last heartbeat that this node has read of another, and since when it is unchanged. */
interface HeartbeatObservation {
  readonly beat: number;
  readonly since: Ticks;
}

const heartbeatMilliseconds = 5_000;
/** Shorter after a failure: a heartbeat may have waited 15 s for a lost response, and after 30 s
 *  the others fence this node. */
const heartbeatRetryMilliseconds = 1_000;
/** Time without a heartbeat after which a node is fenced (barred from committing), measured while
 *  this node can read the store. */
export const heartbeatTimeoutMilliseconds = 30_000;
/** If this node could not read the list for 10 s, it begins the timeouts of all others again,
 *  because it may have missed heartbeats. */
const observationGapMax: Ticks = 2n * BigInt(heartbeatMilliseconds) * ticksPerMillisecond;
const heartbeatTimeout: Ticks = BigInt(heartbeatTimeoutMilliseconds) * ticksPerMillisecond;

const nodeTable = defineTable<string, NodeRecord>({
  name: "node",
  tag: 0xfd,
  key: (id) => [id],
  codec: recordCodec({ version: 1 }),
  owner: "store",
  ...internalRecord,
  lifetime: "process",
});

/** Adds this node to the list and starts its heartbeats. Timeouts of others are measured with its
 *  monotonic clock, and only while it can read the store. So neither a jump of the wall clock nor
 *  an outage of the store makes a running node appear to have ended. */
export async function openNodes(options: NodesOptions): Promise<Processes> {
  const nodes = new Nodes(options);
  const begunAt = options.clock.monotonic();
  await nodes.publish({});
  nodes.heartbeatSucceeded(begunAt);
  nodes.start();
  return nodes;
}

/** Whether no server node is listed: one that starts then takes the clock of the database as it is
 *  (`postgres/time-keeper.ts`). */
export async function hasNoNodes(store: Store): Promise<boolean> {
  return (await store.snapshot((view) => readAll(view, nodeTable))).length === 0;
}

class Nodes implements Processes {
  readonly self: string;
  readonly #options: NodesOptions;
  readonly #observed = new Map<string, HeartbeatObservation>();
  #observedAt: Ticks = 0n;
  #beat = 0;
  #fields: Readonly<Record<string, unknown>> = {};
  #cancel: () => void = () => undefined;
  #cancelCutOff: () => void = () => undefined;
  #reportCutOff: () => void = () => undefined;
  #isClosed = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    this.self = options.self;
  }

  start(milliseconds = heartbeatMilliseconds): void {
    this.#cancel = this.#options.clock.after(milliseconds, () => void this.#sendHeartbeat());
  }

  /** `begunAt`: when that heartbeat was sent. The others measure their timeout from when they see
   *  it, which is later: they do not fence this node before it has reported to be cut off. */
  heartbeatSucceeded(begunAt: Ticks): void {
    const { clock } = this.#options;
    this.#cancelCutOff();
    const left = begunAt + heartbeatTimeout - clock.monotonic();
    const milliseconds = Math.max(0, Number(left / ticksPerMillisecond));
    this.#cancelCutOff = clock.after(milliseconds, () => this.#reportCutOff());
  }

  onCutOff(listener: () => void): void {
    this.#reportCutOff = listener;
  }

  async publish(fields: Readonly<Record<string, unknown>>): Promise<void> {
    this.#fields = fields;
    this.#beat += 1;
    const value = nodeTable.codec.encode({ beat: this.#beat, fields });
    await this.#options.store.transact(async (tx) => tx.put(nodeTable.key(this.self), value));
  }

  async live(): Promise<readonly LiveProcess[]> {
    const all = await this.#observe();
    const alive: LiveProcess[] = [];
    for (const { id, fields } of all) {
      if (this.#hasTimedOut(id)) await this.#options.fence(id);
      else alive.push({ id, fields, pid: 0, startTime: "" });
    }
    return alive;
  }

  async sweep(): Promise<readonly string[]> {
    const silent = (await this.#observe()).filter(({ id }) => this.#hasTimedOut(id));
    for (const { id } of silent) {
      this.#options.log.warn({ node: id }, "fencing node: no heartbeat for 30 s");
      await this.#options.fence(id);
      await this.#options.store.transact(async (tx) => tx.delete(nodeTable.key(id)));
    }
    return silent.map(({ id }) => id);
  }

  assertNotFenced(): Promise<void> {
    return this.#options.assertNotFenced();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    this.#cancelCutOff();
    const { log } = this.#options;
    try {
      await this.#removeSelf();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Not rethrown: the caller has more to close.
      const left = "node stopped without its database; the others remove it after 30 s";
      log.warn({ err: error, node: this.self }, left);
    }
  }

  async #sendHeartbeat(): Promise<void> {
    let pause = heartbeatMilliseconds;
    const begunAt = this.#options.clock.monotonic();
    try {
      await this.publish(this.#fields);
      // A commit would show it, but a node without requests commits nothing.
      await this.assertNotFenced();
      if (!this.#isClosed) this.heartbeatSucceeded(begunAt);
      await this.sweep();
    } catch (error) {
      if (error instanceof NodeFenced) return this.#endFenced();
      pause = heartbeatRetryMilliseconds;
      this.#options.log.warn({ err: error, node: this.self }, "heartbeat failed; retrying in 1 s");
    }
    if (!this.#isClosed) this.start(pause);
  }

  /** Without heartbeats: the others have removed its locks, and must not see it as running. */
  async #endFenced(): Promise<void> {
    this.#cancelCutOff();
    this.#reportCutOff();
    const retry = (): void => {
      if (!this.#isClosed) this.start(heartbeatRetryMilliseconds);
    };
    await this.#removeSelf().catch(retry);
  }

  #removeSelf(): Promise<void> {
    return this.#options.store.transact(async (tx) => tx.delete(nodeTable.key(this.self)));
  }

  #hasTimedOut(id: string): boolean {
    const since = this.#observed.get(id)?.since;
    const isOther = id !== this.self && since !== undefined;
    return isOther && this.#options.clock.monotonic() - since > heartbeatTimeout;
  }

  async #observe(): Promise<readonly (NodeRecord & { readonly id: string })[]> {
    const all = await this.#options.store.snapshot((view) => readAll(view, nodeTable));
    const now = this.#options.clock.monotonic();
    const hasGap = now - this.#observedAt > observationGapMax;
    this.#observedAt = now;
    for (const { id, beat } of all) {
      if (hasGap || this.#observed.get(id)?.beat !== beat) {
        this.#observed.set(id, { beat, since: now });
      }
    }
    const listedIds = new Set(all.map(({ id }) => id));
    for (const id of this.#observed.keys()) if (!listedIds.has(id)) this.#observed.delete(id);
    return all;
  }
}
