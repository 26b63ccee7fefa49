import {
  ExtentTooShort,
  type ExtentFile,
  type ExtentFiles,
} from "../../src/content/extents/extent-files.ts";
import { count, type Conditions, type FaultCounts, type FaultRates } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimProcess } from "./sim-process.ts";

const sectorBytes = 512;
const pageBytes = 4096;

interface Write {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** A file with what processes see, and what is on the disk. */
class StoredFile {
  seen: Uint8Array = new Uint8Array(0);
  size = 0;
  #durable: Uint8Array = new Uint8Array(0);
  #durableSize = 0;
  /** Whether the entry of the folder is on the disk. */
  isLinked = false;
  /** Writes that no flush has reached, in order. */
  #pending: Write[] = [];

  write(write: Write): void {
    this.seen = withWrite(this.seen, write);
    this.size = Math.max(this.size, write.position + write.bytes.length);
    this.#pending.push(write);
  }

  truncate(bytes: number): void {
    if (bytes >= this.size) return;
    this.size = bytes;
    this.seen.fill(0, bytes);
    // On the disk, the bytes may stay until the next flush; nothing refers to them.
    this.#pending = this.#pending.filter(({ position }) => position < bytes);
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  /** The first writes reach the disk. */
  flush(writes: number): void {
    for (const write of this.#pending.splice(0, writes)) this.#store(write);
  }

  /** The first writes are dropped by the system, as after a failed flush; processes still see
   *  them. */
  drop(writes: number): void {
    this.#pending.splice(0, writes);
  }

  /** Loss of power: unflushed writes are lost, stored, stored in part, or only their length is. */
  lose({ random }: Scheduler, counts: FaultCounts): void {
    for (const write of this.#pending) {
      const die = random.below(4);
      count(counts, ["lost write", "late write", "torn write", "length without bytes"][die]!);
      if (die === 1) this.#store(write);
      if (die === 2) for (const part of tornParts(write, random)) this.#store(part);
      if (die === 3) this.#durableSize = Math.max(this.#durableSize, endOf(write));
    }
    this.#pending = [];
    this.size = this.#durableSize;
    this.seen = this.#durable.slice(0, this.size);
    if (this.seen.length < this.size) this.seen = grown(this.seen, this.size);
  }

  /** Changes one stored bit. */
  rot(at: number, bit: number): void {
    for (const bytes of [this.seen, this.#durable]) {
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    }
  }

  #store(write: Write): void {
    this.#durable = withWrite(this.#durable, write);
    this.#durableSize = Math.max(this.#durableSize, endOf(write));
  }
}

function endOf({ position, bytes }: Write): number {
  return position + bytes.length;
}

function withWrite(into: Uint8Array, { position, bytes }: Write): Uint8Array {
  const end = position + bytes.length;
  const room = end <= into.length ? into : grown(into, Math.max(end, 2 * into.length));
  room.set(bytes, position);
  return room;
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Some of the sectors or pages of a write, at random. */
function tornParts({ position, bytes }: Write, random: Scheduler["random"]): readonly Write[] {
  const unit = random.chance(0.5) ? sectorBytes : pageBytes;
  const parts: Write[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + unit - ((position + from) % unit));
    if (random.chance(0.5)) {
      parts.push({ position: position + from, bytes: bytes.subarray(from, to) });
    }
    from = to;
  }
  return parts;
}

interface SimDiskOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly counts: FaultCounts;
  readonly diskMicroseconds: readonly [number, number];
  readonly extentBytes: number;
}

/** The folder of extents on a simulated machine. */
export class SimDisk {
  readonly #options: SimDiskOptions;
  readonly #files = new Map<bigint, StoredFile>();

  constructor(options: SimDiskOptions) {
    this.#options = options;
  }

  get extents(): readonly bigint[] {
    return [...this.#files.keys()];
  }

  /** The files as one process uses them; without a process, for a check that takes no time. */
  filesOf(process: SimProcess | undefined): ExtentFiles {
    const run = <T>(work: () => T): Promise<T> => this.#run(process, work);
    return {
      extentBytes: this.#options.extentBytes,
      create: (extent) =>
        run(() => {
          this.#expectSpace();
          if (this.#files.has(extent)) throw systemError("EEXIST", "the extent exists");
          this.#files.set(extent, new StoredFile());
        }).then(() => run(() => this.#link(extent, process))),
      open: (extent) => run(() => this.#handle(extent, this.#find(extent), process)),
      remove: (extent) => run(() => void this.#files.delete(extent)),
      size: (extent) => run(() => this.#files.get(extent)?.size ?? 0),
      truncate: (extent, bytes) => run(() => this.#files.get(extent)?.truncate(bytes)),
    };
  }

  losePower(): void {
    const { scheduler, counts } = this.#options;
    for (const [extent, file] of this.#files) {
      if (!file.isLinked && scheduler.random.chance(0.5)) this.#files.delete(extent);
      else file.lose(scheduler, counts);
    }
  }

  /** Changes a stored bit. */
  rot(extent: bigint, position: number, bit: number): void {
    this.#find(extent).rot(position, bit);
  }

  /** Makes the entry of the folder durable. */
  #link(extent: bigint, process: SimProcess | undefined): ExtentFile {
    const file = this.#find(extent);
    file.isLinked = true;
    return this.#handle(extent, file, process);
  }

  #handle(_extent: bigint, file: StoredFile, process: SimProcess | undefined): ExtentFile {
    return {
      // The bytes are read when the system writes them: a buffer that is used again too early
      // shows.
      write: (bytes, position) =>
        this.#run(process, () => {
          this.#expectSpace();
          // A copy also of a Buffer, whose `slice` is none.
          file.write({ position, bytes: new Uint8Array(bytes) });
          this.#options.conditions.moments.reach("write of content");
        }),
      read: (bytes, position) =>
        this.#run(process, () => {
          if (position + bytes.length > file.size) {
            throw new ExtentTooShort(`extent ends before offset ${position + bytes.length}`);
          }
          bytes.set(file.seen.subarray(position, position + bytes.length));
        }),
      sync: () => this.#sync(file, process),
      shorten: (bytes) => file.truncate(bytes),
      close: () => Promise.resolve(),
    };
  }

  #sync(file: StoredFile, process: SimProcess | undefined): Promise<void> {
    const { conditions, rates, scheduler, counts } = this.#options;
    const writes = file.pendingCount;
    return this.#run(process, () => {
      const reached = Math.min(writes, file.pendingCount);
      if (conditions.hasFaults && scheduler.random.chance(rates.failingFlush)) {
        count(counts, "failing flush");
        file.drop(reached);
        throw systemError("EIO", "input/output error");
      }
      file.flush(reached);
      conditions.moments.reach("flush of content");
    });
  }

  #find(extent: bigint): StoredFile {
    const file = this.#files.get(extent);
    if (file === undefined) throw systemError("ENOENT", `extent ${extent} does not exist`);
    return file;
  }

  #expectSpace(): void {
    if (this.#options.conditions.isDiskFull) throw systemError("ENOSPC", "no space left");
  }

  /** Runs the work of a system call after its latency, and reports its result later. A process that
   *  ends in between does not know whether it happened. */
  #run<T>(process: SimProcess | undefined, work: () => T): Promise<T> {
    if (process === undefined) return Promise.resolve().then(work);
    const { scheduler, diskMicroseconds, conditions } = this.#options;
    const [low, high] = diskMicroseconds;
    const delay = scheduler.between(low, high) * conditions.diskSlowness;
    return new Promise((resolve, reject) => {
      scheduler.schedule(
        delay,
        () => {
          let done: { readonly value: T } | { readonly error: unknown };
          try {
            done = { value: work() };
          } catch (error) {
            done = { error };
          }
          const settle = (): void => ("value" in done ? resolve(done.value) : reject(done.error));
          scheduler.schedule(scheduler.random.below(20), settle, process);
        },
        process,
      );
    });
  }
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
