import { readFileSync, readlinkSync } from "node:fs";

/** A process of this boot: ids are used again, so the moment of its start belongs to it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, from `/proc`; empty where there is none. */
  readonly startTime: string;
}

const startTimeField = 19;

export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) ?? "" };
}

/** Names the list of processes that this one sees: containers on one machine have one each. Empty
 *  where there is but one list. */
export function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime !== "") return startTimeOf(pid) === startTime;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Refused means that there is such a process, of another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The name of the program, in parentheses, may itself hold spaces and parentheses. A zombie has
 *  ended: its files and locks are gone. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[startTimeField];
  } catch {
    return undefined;
  }
}
