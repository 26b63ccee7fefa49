import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import { identifyProcess, isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Store, View } from "./store.ts";

export interface ProcessRecord extends ProcessIdentity {
  /** What the process last published: its pins, its oldest snapshot. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LiveProcess extends ProcessRecord {
  readonly id: string;
}

export interface Processes {
  /** The id that this process owns entries under: one for each time it has opened the list. */
  readonly self: string;
  /** Replaces what this process has published. */
  publish(fields: Readonly<Record<string, unknown>>): Promise<void>;
  /** All that are running now; entries of others are owned by the dead. */
  live(): Promise<readonly LiveProcess[]>;
  /** Takes the dead out of the list and says who they were: what they owned can be swept. */
  sweep(): Promise<readonly string[]>;
  /** Takes this process out of the list. */
  close(): Promise<void>;
}

export interface ProcessesOptions {
  /** The ephemeral one. */
  readonly store: Store;
  readonly self?: ProcessIdentity;
  readonly isAlive?: (process: ProcessIdentity) => boolean;
}

/** Kept apart from all services: the last tag there is. */
const processTable = defineTable<string, ProcessRecord>({
  name: "process",
  tag: 0xfe,
  key: (id) => [id],
  codec: recordCodec({ version: 1 }),
});

/** One process may open a location several times; each must leave alone what the others own. */
let openedCount = 0;
/** Threads of one process count for themselves, and so may come to a number already taken. */
const idsTriedMax = 10_000;

/** Enters this process into the list that all processes at one location share. */
export async function openProcesses(options: ProcessesOptions): Promise<Processes> {
  const { store, self = identifyProcess(process.pid) } = options;
  const isRunning = options.isAlive ?? isAlive;
  const id = await enter(store, self);
  const publish = async (fields: Readonly<Record<string, unknown>>): Promise<void> => {
    const value = processTable.codec.encode({ ...self, fields });
    await store.transact(async (tx) => tx.put(processTable.key(id), value));
  };
  return {
    self: id,
    publish,
    async live() {
      const all = await store.snapshot(listed);
      return all.filter((each) => each.id === id || isRunning(each));
    },
    async sweep() {
      const all = await store.snapshot(listed);
      const dead = all.filter((each) => each.id !== id && !isRunning(each));
      if (dead.length === 0) return [];
      await store.transact(async (tx) => {
        for (const each of dead) tx.delete(processTable.key(each.id));
      });
      return dead.map((each) => each.id);
    },
    close: () => store.transact(async (tx) => tx.delete(processTable.key(id))),
  };
}

/** Under an id that nobody has; `pid-startTime-3` is the fourth opening of its process. */
async function enter(store: Store, self: ProcessIdentity): Promise<string> {
  const value = processTable.codec.encode({ ...self, fields: {} });
  for (let tries = 0; tries < idsTriedMax; tries += 1) {
    const id = `${self.pid}-${self.startTime}-${openedCount}`;
    openedCount += 1;
    const isFree = await store.transact(async (tx) => {
      if ((await tx.get(processTable.key(id))) !== undefined) return false;
      tx.put(processTable.key(id), value);
      return true;
    });
    if (isFree) return id;
  }
  throw new Error(`process ${self.pid} has opened the list of processes too often`);
}

async function listed(view: View): Promise<LiveProcess[]> {
  const found: LiveProcess[] = [];
  for await (const entries of view.range(processTable.range([]))) {
    for (const { key, value } of entries) {
      const id = String(processTable.parts(key)[0]);
      found.push({ ...processTable.codec.decode(value), id });
    }
  }
  return found;
}
