import type { FaultCode } from "../../protocol/faults.ts";
import { fail, type Failure } from "../../protocol/result.ts";
import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import {
  checkAccess,
  type AccessFault,
  type AccessRequest,
  type FileAccess,
} from "./file-access.ts";
import { noLocks, type LockState, type Open } from "./lock-state.ts";

/** How long a REST operation waits for SMB clients to acknowledge breaks. */
export const flushSecondsMax = 30;

export type FileAccessDecision =
  | { readonly kind: "pass"; readonly state: LockState }
  /** Breaks were started: store the state and decide again when it changes. */
  | { readonly kind: "wait"; readonly state: LockState; readonly until: Ticks }
  | { readonly kind: "refused"; readonly failure: Failure };

export const deletePending = fail("DeletePending", { elements: { Reason: "SMBDeletePending" } });

/** `checkAccess` with the faults and the time limit of REST. */
export function decideFileAccess(
  locks: LockState | undefined,
  access: FileAccess,
  request: AccessRequest,
): FileAccessDecision {
  if (locks === undefined) return { kind: "pass", state: noLocks };
  const check = checkAccess(locks, access, request);
  if (check.kind === "pass") return check;
  if (check.kind === "fault") return { kind: "refused", failure: failureOf(check) };
  const { state, since, violators } = check;
  const until = since + ticksFromSeconds(flushSecondsMax);
  if (request.now < until) return { kind: "wait", state, until };
  const isViolation = violators !== undefined;
  const failure = isViolation
    ? heldBy("SharingViolation", violators)
    : fail("ClientCacheFlushDelay");
  return { kind: "refused", failure };
}

function failureOf({ fault, opens }: { fault: AccessFault; opens: readonly Open[] }): Failure {
  switch (fault) {
    case "delete-pending":
      return deletePending;
    case "sharing-violation":
      return heldBy("SharingViolation", opens);
    case "lock-conflict":
      return heldBy("FileLockConflict", opens);
  }
}

const holdersReportedMax = 5;

/** A fault that names the handles that cause it, for the event feed. */
export function heldBy(code: FaultCode, opens: readonly Open[]): Failure {
  const holders = opens.slice(0, holdersReportedMax).map(({ id, client }) => ({ id, client }));
  return fail(code, { heldBy: holders });
}
