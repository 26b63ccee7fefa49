import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Resource use of a server during one part of a run. */
export interface Sample {
  readonly residentBytes: number;
  readonly descriptors: number;
  readonly storeBytes: number;
  readonly extentBytes: number;
  readonly requests: number;
  readonly medianMilliseconds: number;
  readonly slowestMilliseconds: number;
}

export function takeSample(pid: number, location: string, durations: readonly number[]): Sample {
  const sorted = durations.toSorted((one, other) => one - other);
  return {
    residentBytes: residentBytesOf(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    storeBytes: statSync(join(location, "store", "store.mdb")).size,
    extentBytes: extentBytesIn(location),
    requests: sorted.length,
    medianMilliseconds: sorted[Math.floor(sorted.length / 2)] ?? 0,
    slowestMilliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

/** Allocated bytes on disk, not the files' lengths. */
export function extentBytesIn(location: string): number {
  const folder = join(location, "extents");
  return readdirSync(folder)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

function residentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
}

/** The medians of a value in the second quarter of a run, after warm-up, and in the last. */
export function earlyAndLate(samples: readonly Sample[], figure: keyof Sample) {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return {
    early: medianOf(samples.slice(quarter, 2 * quarter), figure),
    late: medianOf(samples.slice(-quarter), figure),
  };
}

function medianOf(samples: readonly Sample[], figure: keyof Sample): number {
  const sorted = samples.map((sample) => sample[figure]).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
