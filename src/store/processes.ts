import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import { identifyProcess, isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Store, View } from "./store.ts";

export interface ProcessRecord extends ProcessIdentity {
  /** What the process published last: its read horizon and its oldest open view. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LiveProcess extends ProcessRecord {
  readonly id: string;
}

/** The list of the processes that share a store. */
export interface Processes {
  /** The id under which this process owns entries. Each opening of the list has its own. */
  readonly self: string;
  /** Replaces the published fields of this process. */
  publish(fields: Readonly<Record<string, unknown>>): Promise<void>;
  /** The running processes. Entries of other owners belong to processes that have ended. */
  live(): Promise<readonly LiveProcess[]>;
  /** Removes ended processes from the list and returns their ids, so that their entries can be
   *  removed. */
  sweep(): Promise<readonly string[]>;
  /** Removes this process from the list. */
  close(): Promise<void>;
}

export interface ProcessesOptions {
  /** The ephemeral store. */
  readonly store: Store;
  readonly self?: ProcessIdentity;
  readonly isAlive?: (process: ProcessIdentity) => boolean;
}

/** The last table tag, separate from those of all services. */
const processTable = defineTable<string, ProcessRecord>({
  name: "process",
  tag: 0xfe,
  key: (id) => [id],
  codec: recordCodec({ version: 1 }),
});

/** How often this process has opened a location. Each opening has its own id, and so its own
 *  entries. */
let openedCount = 0;
/** Ids that are tried: worker threads of the process have their own count, so an id may already be
 *  in use. */
const idsTriedMax = 10_000;

/** Adds this process to the list that all processes at one location share. */
export async function openProcesses(options: ProcessesOptions): Promise<Processes> {
  const { store, self = identifyProcess(process.pid) } = options;
  const isRunning = options.isAlive ?? isAlive;
  const id = await register(store, self);
  const publish = async (fields: Readonly<Record<string, unknown>>): Promise<void> => {
    const value = processTable.codec.encode({ ...self, fields });
    await store.transact(async (tx) => tx.put(processTable.key(id), value));
  };
  return {
    self: id,
    publish,
    async live() {
      const all = await store.snapshot(readProcesses);
      return all.filter((each) => each.id === id || isRunning(each));
    },
    async sweep() {
      const all = await store.snapshot(readProcesses);
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

/** Stores a record under an unused id. Example: `pid-startTime-3` is the fourth opening by its
 *  process. */
async function register(store: Store, self: ProcessIdentity): Promise<string> {
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
  throw new Error(
    `process ${self.pid} has opened the list of processes more than ${idsTriedMax} times`,
  );
}

async function readProcesses(view: View): Promise<LiveProcess[]> {
  const found: LiveProcess[] = [];
  for await (const entries of view.range(processTable.range([]))) {
    for (const { key, value } of entries) {
      const id = String(processTable.parts(key)[0]);
      found.push({ ...processTable.codec.decode(value), id });
    }
  }
  return found;
}
