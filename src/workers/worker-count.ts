import { availableParallelism } from "node:os";
import { readFileSync } from "node:fs";
import { workersMax } from "../server/options.ts";

/** How many workers a server starts: the value of `--workers`, of which `auto` depends on the
 *  cores. */

const quotaFile = "/sys/fs/cgroup/cpu.max";

/** The number of workers for the option `--workers`. `auto` is one worker for each core that this
 *  process may use. On Windows it is always 1: workers commit through a Unix socket in the data
 *  folder, and share listening sockets, which Windows does neither. */
export function workerCountOf(
  workers: number | "auto",
  platform: NodeJS.Platform = process.platform,
): number {
  if (platform === "win32") return 1;
  if (workers !== "auto") return workers;
  const cores = Math.min(availableParallelism(), quotaCores(readQuota()) ?? Infinity);
  return Math.min(workersMax, Math.max(1, cores));
}

/** The CPU quota of a container in cores, rounded up; undefined without one. The file has the
 *  microseconds of a period that may be used, and the length of the period: `150000 100000`. */
export function quotaCores(text: string): number | undefined {
  const [quota = 0, period = 0] = text.trim().split(" ").map(Number);
  return quota > 0 && period > 0 ? Math.ceil(quota / period) : undefined;
}

/** Reads the CPU quota of the container, which `availableParallelism` ignores in some versions of
 *  Node.js. Empty if there is none. */
function readQuota(): string {
  try {
    return readFileSync(quotaFile, "utf8");
  } catch {
    return "";
  }
}
