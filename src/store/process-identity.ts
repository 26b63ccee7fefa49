import { readFileSync, readlinkSync } from "node:fs";

/** Identifies a process of this boot. Process ids are reused, so the start time is part of it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, from `/proc`; empty where there is none. */
  readonly startTime: string;
}

const startTimeField = 19;

export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) ?? "" };
}

/** Identifies the PID namespace: containers on one machine have one each. Empty on systems without
 *  namespaces. */
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

/** Reads the start time after the last parenthesis: the program name before it may contain spaces
 *  and parentheses. A zombie counts as ended, since its files and locks are released. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[startTimeField];
  } catch {
    return undefined;
  }
}
