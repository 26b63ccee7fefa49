import type { FaultCode } from "../../protocol/faults.ts";
import { fail, type Failure } from "../../protocol/result.ts";
import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import { deleteAccess, readData, shareAll, shareRead, writeData } from "./access.ts";
import { lockingRanges, type ByteSpan } from "./byte-ranges.ts";
import { breakCaches, type BreakTrigger } from "./caching.ts";
import { noLocks, type LockState, type Open, type RangeLock } from "./lock-state.ts";
import { collisions } from "./share-modes.ts";

/** How long a REST operation waits for SMB clients to acknowledge breaks. */
export const flushSecondsMax = 30;

/**
 * What an operation counts as to the other users of a file: an SMB open for its duration.
 * learn.microsoft.com/rest/api/storageservices/managing-file-locks
 */
export interface FileAccess {
  /** SMB access mask, compared with the share modes of the handles that are open. */
  readonly access: number;
  /** SMB share mode, compared with the access masks of the handles that are open. */
  readonly share: number;
  /** Which caching grants of SMB clients it breaks; undefined: none. */
  readonly breaks: BreakTrigger | undefined;
  /** How it touches bytes that may be locked; undefined: not at all. */
  readonly bytes: "reads" | "writes" | undefined;
  /** Fails while any handle is open, whatever its share mode. */
  readonly exclusive?: true;
}

/** Fails only for a delete-pending file. */
export const presenceAccess: FileAccess = {
  access: 0,
  share: shareAll,
  breaks: undefined,
  bytes: undefined,
};

/** Clients with write caching flush first: they may hold a later length or write time. */
export const propertiesAccess: FileAccess = { ...presenceAccess, breaks: "read" };

export const readAccess: FileAccess = { ...propertiesAccess, access: readData, bytes: "reads" };

export const writeAccess: FileAccess = {
  access: writeData,
  share: shareAll,
  breaks: "write",
  bytes: "writes",
};

export const replaceAccess: FileAccess = {
  ...writeAccess,
  access: writeData | deleteAccess,
  breaks: "overwrite",
};

/** A file that is renamed keeps its handles. */
export const moveAccess: FileAccess = {
  access: deleteAccess,
  share: shareAll,
  breaks: "remove",
  bytes: undefined,
};

/** Also for a directory that is renamed: Azure Files documents that it must not be open. */
export const removeAccess: FileAccess = { ...moveAccess, exclusive: true };

/** A REST lease excludes writers and deleters as long as it is held. */
export const leaseAccess: FileAccess = {
  access: readData | writeData | deleteAccess,
  share: shareRead,
  breaks: undefined,
  bytes: undefined,
};

export type FileAccessDecision =
  | { readonly kind: "pass"; readonly state: LockState }
  /** Breaks were started: store the state and decide again when it changes. */
  | { readonly kind: "wait"; readonly state: LockState; readonly until: Ticks }
  | { readonly kind: "refused"; readonly failure: Failure };

export const deletePending = fail("DeletePending", { elements: { Reason: "SMBDeletePending" } });

/** Whether a REST operation may access a file now, and which breaks it must wait for. */
export function decideFileAccess(
  locks: LockState | undefined,
  access: FileAccess,
  { now, span }: { readonly now: Ticks; readonly span?: ByteSpan | undefined },
): FileAccessDecision {
  if (locks === undefined) return { kind: "pass", state: noLocks };
  if (locks.deletePending) return { kind: "refused", failure: deletePending };
  const colliding = access.exclusive === true ? locks.opens : collisions(locks, access);
  if (colliding.length > 0) {
    const violation = heldBy("SharingViolation", colliding);
    const only = new Set(colliding.flatMap(({ cacheKey }) => cacheKey ?? []));
    const breaking = breakCaches(locks, "violation", { now, only });
    if (breaking.waitingSince === undefined) {
      return { kind: "refused", failure: violation };
    }
    return waiting(breaking.state, breaking.waitingSince, now, violation);
  }
  const locked = lockedBytes(locks, access, span);
  if (locked.length > 0) {
    const ids = new Set(locked.map(({ open }) => open));
    const lockers = locks.opens.filter(({ id }) => ids.has(id));
    return { kind: "refused", failure: heldBy("FileLockConflict", lockers) };
  }
  if (access.breaks === undefined) return { kind: "pass", state: locks };
  const { state, waitingSince } = breakCaches(locks, access.breaks, { now });
  if (waitingSince === undefined) return { kind: "pass", state };
  return waiting(state, waitingSince, now, fail("ClientCacheFlushDelay"));
}

function waiting(state: LockState, since: Ticks, now: Ticks, tooLate: Failure): FileAccessDecision {
  const until = since + ticksFromSeconds(flushSecondsMax);
  return now < until ? { kind: "wait", state, until } : { kind: "refused", failure: tooLate };
}

function lockedBytes(
  locks: LockState,
  { bytes }: FileAccess,
  span: ByteSpan | undefined,
): readonly RangeLock[] {
  if (bytes === undefined || span === undefined) return noRanges;
  return lockingRanges(locks, span, { writes: bytes === "writes" });
}

const noRanges: readonly RangeLock[] = [];
const holdersReportedMax = 5;

/** A fault that names the handles that cause it, for the event feed. */
export function heldBy(code: FaultCode, opens: readonly Open[]): Failure {
  const holders = opens.slice(0, holdersReportedMax).map(({ id, client }) => ({ id, client }));
  return fail(code, { heldBy: holders });
}
