import { Disk } from "./disk.ts";
import { smbAnswerIds } from "./smb-answer-id.ts";
import {
  dataIn,
  descriptorIn,
  lastNumberIn,
  pathsIn,
  readTrace,
  type TraceEvent,
} from "./trace.ts";

/** Applies a trace to a simulated disk that can lose power at any event. */
export class Replay {
  readonly disk: Disk;
  /** Ids of responses that have begun to be sent. */
  readonly answered = new Set<string>();
  /** Offset of the next sequential write, by descriptor. */
  readonly #positions = new Map<number, number>();
  /** Descriptors opened with O_SYNC or O_DSYNC. */
  readonly #synchronous = new Set<number>();
  readonly #appending = new Set<number>();

  readonly #forgetsSyncs: boolean;

  /** A disk that ignores fsync represents a server that does not wait for it. */
  constructor(root: string, { forgetsSyncs = false } = {}) {
    this.disk = new Disk(root);
    this.#forgetsSyncs = forgetsSyncs;
  }

  play(event: TraceEvent): void {
    if (event.phase === "enter") this.#enter(event);
    else if (event.result >= 0) this.#exit(event);
  }

  #enter({ id, call, words }: TraceEvent): void {
    if (isWrite(call)) return this.#beginWrite(id, call, words);
    if (call !== "fsync" && call !== "fdatasync") return;
    const { path } = descriptorIn(words);
    if (this.disk.holds(path) && !(this.#forgetsSyncs && /\.\w+$/.test(path))) {
      this.disk.beginSync(id, path);
    }
  }

  #beginWrite(id: number, call: string, words: string): void {
    const { number, path } = descriptorIn(words);
    if (path.startsWith("socket:")) return this.#answer(words);
    if (!this.disk.holds(path)) return;
    const bytes = dataIn(words);
    const isPlaced = call === "pwrite64" || call === "pwritev";
    const end = this.#appending.has(number) ? this.disk.sizeOf(path) : undefined;
    const offset = isPlaced ? lastNumberIn(words) : (end ?? this.#positions.get(number) ?? 0);
    if (!isPlaced) this.#positions.set(number, offset + bytes.length);
    this.disk.beginWrite(id, path, offset, bytes);
  }

  #answer(words: string): void {
    const bytes = dataIn(words);
    for (const id of smbAnswerIds(bytes)) this.answered.add(id);
    const text = bytes.toString("latin1");
    for (const [, id = ""] of text.matchAll(/x-ms-request-id: (\S+)/gi)) this.answered.add(id);
  }

  #exit({ id, call, words, result, resultPath }: TraceEvent): void {
    const { number, path } = descriptorIn(words);
    if (call === "openat") return this.#opened(words, result, resultPath);
    if (call === "lseek") return void this.#positions.set(number, result);
    if (isWrite(call) && this.disk.holds(path)) {
      const isDurable = this.#synchronous.has(number) && !this.#forgetsSyncs;
      return this.disk.endWrite(id, path, isDurable);
    }
    if (call === "fsync" || call === "fdatasync") return this.disk.endSync(id);
    const [first = "", second = ""] = pathsIn(words);
    if (!this.disk.holds(first)) return;
    if (call === "mkdir") this.disk.makeFolder(first);
    else if (call.startsWith("link")) this.disk.link(first, second);
    else if (call.startsWith("rename")) this.disk.rename(first, second);
    else if (call.startsWith("unlink")) this.disk.remove(first);
  }

  #opened(words: string, descriptor: number, path: string): void {
    this.#positions.set(descriptor, 0);
    set(this.#synchronous, descriptor, /O_D?SYNC/.test(words));
    set(this.#appending, descriptor, words.includes("O_APPEND"));
    if (this.disk.holds(path) && words.includes("O_CREAT")) this.disk.open(path);
  }
}

function set(members: Set<number>, member: number, isIn: boolean): void {
  if (isIn) members.add(member);
  else members.delete(member);
}

function isWrite(call: string): boolean {
  return /^p?writev?(64)?$|^send/.test(call);
}

export async function countEvents(path: string): Promise<number> {
  const events = readTrace(path);
  let count = 0;
  while ((await events.next()).done !== true) count += 1;
  return count;
}

/** Number of events until a response begins to be sent. */
export async function countUntil(path: string, answer: string): Promise<number> {
  let count = 0;
  for await (const { words } of readTrace(path)) {
    count += 1;
    if (dataIn(words).includes(answer)) return count;
  }
  return count;
}
