import { readFileSync } from "node:fs";

/** Ticks of the kernel per second, the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** What all threads of a process have used so far; not a number where nobody counts. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return Number.NaN;
  }
}

/** Memory that no file stands behind: the heap and buffers, not the pages of the store. */
export function anonymousMegabytesOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
  } catch {
    return Number.NaN;
  }
}
