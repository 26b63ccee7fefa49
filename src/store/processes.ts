import { defineTable, internalRecord, recordCodec, type Table } from "../encoding/table.ts";
import type { Store, View } from "./store.ts";
import { readRecords } from "./typed-records.ts";
import { readFileSync, readlinkSync } from "node:fs";

/** The list of the processes of one machine that share a data folder, and whether each of them
 *  still runs. What a killed process has left (opens, locks, extents) is removed with its entry.
 *  `data/storage-backends.ts` opens it; server nodes on different machines have `nodes.ts`
 *  instead. */

interface ProcessRecord extends ProcessIdentity {
  /** What the process published last: its read horizon (`content/reclaim/pins.ts`). */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LiveProcess extends ProcessRecord {
  readonly id: string;
}

/** The list of the processes, or server nodes, that share a store. */
export interface Processes {
  /** The id of this process in its opens, locks and extents. Each opening of the list has one. */
  readonly self: string;
  /** Replaces the published fields of this process, which the others read with `live`. */
  publish(fields: Readonly<Record<string, unknown>>): Promise<void>;
  /** The running processes. What other ids own was left by processes that have ended. */
  live(): Promise<readonly LiveProcess[]>;
  /** Removes ended processes from the list and returns their ids, to remove what they left. */
  sweep(): Promise<readonly string[]>;
  /** Throws `StoreUnavailable` if the others treat this process as ended although it runs, as
   *  server nodes do after 30 s without a heartbeat. Processes of one machine never do. */
  assertNotFenced(): Promise<void>;
  /** Calls `listener` when other processes may begin to treat this one as ended although it runs:
   *  before they remove its opens and locks, unless the process was paused. Called again when the
   *  process learns that it was fenced. Processes of one machine are never cut off. */
  onCutOff(listener: () => void): void;
  close(): Promise<void>;
}

interface ProcessesOptions {
  /** A store that is not flushed and is empty after a boot: only running processes matter here. */
  readonly store: Store;
  readonly self?: ProcessIdentity;
  readonly isAlive?: (process: ProcessIdentity) => boolean;
}

/** The table of processes. Tags (first bytes of keys) from `fc` on belong to lists of running
 *  processes, lower ones to services. */
const processTable = defineTable<string, ProcessRecord>({
  name: "process",
  tag: 0xfe,
  key: (id) => [id],
  codec: recordCodec({ version: 1 }),
  owner: "store",
  ...internalRecord,
  lifetime: "process",
});

/** Adds this process to the list of those that share a data folder. */
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
      const all = await store.snapshot((view) => readAll(view, processTable));
      return all.filter((each) => each.id === id || isRunning(each));
    },
    async sweep() {
      const all = await store.snapshot((view) => readAll(view, processTable));
      const dead = all.filter((each) => each.id !== id && !isRunning(each));
      if (dead.length === 0) return [];
      await store.transact(async (tx) => {
        for (const each of dead) tx.delete(processTable.key(each.id));
      });
      return dead.map((each) => each.id);
    },
    assertNotFenced: () => Promise.resolve(),
    onCutOff: () => undefined,
    close: () => store.transact(async (tx) => tx.delete(processTable.key(id))),
  };
}

/** Adds a process under a new id, which ends with the store time and so is never used again. */
function register(store: Store, self: ProcessIdentity): Promise<string> {
  const value = processTable.codec.encode({ ...self, fields: {} });
  return store.transact((tx) => {
    const id = `${self.pid}-${self.startTime}-${tx.now}`;
    tx.put(processTable.key(id), value);
    return id;
  });
}

/** Reads all records of a list of processes or nodes, whose keys are their ids. */
export async function readAll<R>(
  view: View,
  table: Table<string, R>,
): Promise<(R & { readonly id: string })[]> {
  const found = await readRecords(view, table);
  return found.map(({ parts: [id], record }) => ({ ...record, id: String(id) }));
}

/** Identifies a process of this boot. Process ids are reused, so the start time is part of it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start in clock ticks after boot, from `/proc`; empty on systems without it. */
  readonly startTime: string;
}

/** Index of the start time among the fields after the program name in `/proc/<pid>/stat`. */
const startTimeField = 19;

export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) ?? "" };
}

/** Identifies the PID namespace of this process. A process id means nothing in another namespace
 *  (another container on the machine). Empty on systems without namespaces. */
export function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Whether the process still runs, and is not another one with the same id. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime !== "") return startTimeOf(pid) === startTime;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Reads the start time of a process after the last parenthesis, because the program name before
 *  it may contain spaces and parentheses. A zombie counts as ended: its files and locks are
 *  released. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[startTimeField];
  } catch {
    return undefined;
  }
}
