import { readdirSync, readFileSync } from "node:fs";

/** Kernel clock ticks per second (USER_HZ), 100 on every Linux that Node supports. */
const ticksPerSecond = 100;

/** CPU seconds of all threads of a process; NaN without /proc. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return Number.NaN;
  }
}

/** CPU seconds of a process and of those that it has started. */
export function processesCpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const pids = children === "" ? [pid] : [pid, ...children.split(" ").map(Number)];
  return pids.reduce((sum, each) => sum + cpuSecondsOf(each), 0);
}

/** CPU time of all threads of a process, to the nanosecond: `stat` counts in ticks of 10 ms. */
export function processCpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [running] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    nanoseconds += Number(running);
  }
  return nanoseconds / 1000;
}

/** Anonymous memory: heap and buffers, not the mapped pages of the store. */
export function anonymousMegabytesOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
  } catch {
    return Number.NaN;
  }
}
