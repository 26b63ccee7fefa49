import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { LiveProcess, Processes } from "./processes.ts";
import type { Store, View } from "./store.ts";

export interface NodesOptions {
  /** The ephemeral one. */
  readonly store: Store;
  /** Names this node; never used again. */
  readonly self: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps a node from ever committing again: only then may it be taken for dead. */
  readonly fence: (node: string) => Promise<void>;
}

interface NodeRecord {
  /** Grows with every sign of life. */
  readonly beat: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Observed {
  readonly beat: number;
  readonly since: Ticks;
}

const beatMilliseconds = 5_000;
/** How long a node may be silent, while this one can hear, until it is given up. */
export const heartbeatTimeoutMilliseconds = 30_000;
const observationGapMax: Ticks = 2n * BigInt(beatMilliseconds) * ticksPerMillisecond;
const silenceMax: Ticks = BigInt(heartbeatTimeoutMilliseconds) * ticksPerMillisecond;

const nodeTable = defineTable<string, NodeRecord>({
  name: "node",
  tag: 0xfd,
  key: (id) => [id],
  codec: recordCodec({ version: 1 }),
});

/**
 * The list of nodes, each of which gives signs of life. Whether one is silent is measured by this
 * node's own clock, and only while the store answers: neither a wall clock that jumps nor a store
 * that was away for a while makes the living look dead.
 */
export async function openNodes(options: NodesOptions): Promise<Processes> {
  const nodes = new Nodes(options);
  await nodes.publish({});
  nodes.start();
  return nodes;
}

class Nodes implements Processes {
  readonly self: string;
  readonly #options: NodesOptions;
  readonly #observed = new Map<string, Observed>();
  #observedAt: Ticks = 0n;
  #beat = 0;
  #fields: Readonly<Record<string, unknown>> = {};
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    this.self = options.self;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(beatMilliseconds, () => void this.#sendHeartbeat());
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
      this.#options.log.warn({ node: id }, "a node is silent and is given up");
      await this.#options.fence(id);
      await this.#options.store.transact(async (tx) => tx.delete(nodeTable.key(id)));
    }
    return silent.map(({ id }) => id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#options.store.transact(async (tx) => tx.delete(nodeTable.key(this.self)));
  }

  async #sendHeartbeat(): Promise<void> {
    try {
      await this.publish(this.#fields);
      await this.sweep();
    } catch (error) {
      this.#options.log.warn({ err: error }, "heartbeat failed; retrying in 5 s");
    }
    if (!this.#isClosed) this.start();
  }

  #hasTimedOut(id: string): boolean {
    const since = this.#observed.get(id)?.since;
    const isOther = id !== this.self && since !== undefined;
    return isOther && this.#options.clock.monotonic() - since > silenceMax;
  }

  async #observe(): Promise<readonly (NodeRecord & { readonly id: string })[]> {
    const all = await this.#options.store.snapshot(listed);
    const now = this.#options.clock.monotonic();
    const wasDeaf = now - this.#observedAt > observationGapMax;
    this.#observedAt = now;
    for (const { id, beat } of all) {
      if (wasDeaf || this.#observed.get(id)?.beat !== beat) {
        this.#observed.set(id, { beat, since: now });
      }
    }
    const listedIds = new Set(all.map(({ id }) => id));
    for (const id of this.#observed.keys()) if (!listedIds.has(id)) this.#observed.delete(id);
    return all;
  }
}

async function listed(view: View): Promise<(NodeRecord & { id: string })[]> {
  const found: (NodeRecord & { id: string })[] = [];
  for await (const entries of view.range(nodeTable.range([]))) {
    for (const { key, value } of entries) {
      const id = String(nodeTable.parts(key)[0]);
      found.push({ ...nodeTable.codec.decode(value), id });
    }
  }
  return found;
}
