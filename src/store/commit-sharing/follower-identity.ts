import { threadId } from "node:worker_threads";

import { identifyProcess } from "../process-identity.ts";
import type { FollowerIdentity } from "./follower.ts";

let openedCount = 0;

/** A new identity. Its id is `<process>-<start time>-<thread>-<opening>`: a process may open a
 *  store several times, also in several threads. */
export function newFollowerIdentity(owner = process.pid): FollowerIdentity {
  const { pid, startTime } = identifyProcess(process.pid);
  openedCount += 1;
  return { owner, id: `${pid}-${startTime}-${threadId}-${openedCount}`, lastNumber: 0 };
}
