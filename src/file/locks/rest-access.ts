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

/** The check of REST operations against the lock state of a file, with the faults and the time
 *  limit of REST. `file/file-operation.ts` calls it before each decision. */

/** How long a REST operation waits for SMB clients to acknowledge breaks, from the start of the
 *  oldest break. Shorter than `breakSecondsMax`: the REST client then gets a fault. */
export const flushSecondsMax = 30;

type FileAccessDecision =
  | { readonly kind: "pass"; readonly state: LockState }
  /** Breaks are running: store the state, and decide again when the lock state changes or at
   *  `until`. */
  | { readonly kind: "wait"; readonly state: LockState; readonly until: Ticks }
  | { readonly kind: "refused"; readonly failure: Failure };

export const deletePending = fail("DeletePending", { elements: { Reason: "SMBDeletePending" } });

/** Decides the access of a REST operation: `checkAccess` with the faults and the time limit of
 *  REST. Undefined `locks`: the file is not open. */
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
    ? faultWithHolders("SharingViolation", violators)
    : fail("ClientCacheFlushDelay");
  return { kind: "refused", failure };
}

function failureOf({ fault, opens }: { fault: AccessFault; opens: readonly Open[] }): Failure {
  switch (fault) {
    case "delete-pending":
      return deletePending;
    case "sharing-violation":
      return faultWithHolders("SharingViolation", opens);
    case "lock-conflict":
      return faultWithHolders("FileLockConflict", opens);
  }
}

/** Most handles that a fault names; further ones are left out. The explorer shows them as the cause
 *  of a rejected request. */
const holdersReportedMax = 5;

/** A fault with the handles that cause it. Only the request feed of the admin listener reports
 *  them; the response does not contain them. */
export function faultWithHolders(code: FaultCode, opens: readonly Open[]): Failure {
  const holders = opens.slice(0, holdersReportedMax).map(({ id, client }) => ({ id, client }));
  return fail(code, { heldBy: holders });
}
