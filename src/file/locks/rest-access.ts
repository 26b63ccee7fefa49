import type { FaultCode } from "../../protocol/faults.ts";
import { fail, type Failure } from "../../protocol/result.ts";
import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import { deleteAccess, readData, shareAll, shareRead, writeData } from "./access.ts";
import { lockingRanges, type Stretch } from "./byte-ranges.ts";
import { breakCaches, type BreakTrigger } from "./caching.ts";
import { noLocks, type LockState, type Open, type RangeLock } from "./lock-state.ts";
import { collisions } from "./share-modes.ts";

/** How long a REST operation waits for an SMB client to give up what it caches. */
export const flushSecondsMax = 30;

interface ShortOpen {
  /** What the operation does to the file, as an SMB access mask. */
  readonly access: number;
  /** What it lets others do meanwhile: everything, but for leases. */
  readonly share: number;
  readonly breaks: BreakTrigger | undefined;
  /** How it touches bytes that may be locked. */
  readonly bytes: "reads" | "writes" | undefined;
  /** No handle of any kind may be open, whatever it shares. */
  readonly alone?: true;
}

const quiet: ShortOpen = { access: 0, share: shareAll, breaks: undefined, bytes: undefined };
const looks: ShortOpen = { ...quiet, breaks: "read" };
const reads: ShortOpen = { ...looks, access: readData, bytes: "reads" };
const writes: ShortOpen = {
  access: writeData,
  share: shareAll,
  breaks: "write",
  bytes: "writes",
};
const replaces: ShortOpen = { ...writes, access: writeData | deleteAccess, breaks: "overwrite" };
const removes: ShortOpen = {
  access: deleteAccess,
  share: shareAll,
  breaks: "remove",
  bytes: undefined,
  alone: true,
};

/**
 * What each REST operation counts as: an SMB open with this access, for its duration.
 * learn.microsoft.com/rest/api/storageservices/managing-file-locks
 */
export const shortOpens = {
  "List Directories and Files": quiet,
  "List Handles": quiet,
  "Force Close Handles": quiet,
  "Get File Properties": looks,
  "Get File Metadata": looks,
  "Get Symbolic Link": looks,
  "Get File": reads,
  "List Ranges": reads,
  "Copy File source": reads,
  "Put Range": writes,
  "Put Range From URL": writes,
  "Set File Properties": writes,
  "Set File Metadata": writes,
  "Create File": replaces,
  "Copy File": replaces,
  "Abort Copy File": writes,
  "Delete File": removes,
  "Delete Directory": removes,
  // What is in the way of a rename goes away; what is renamed only moves.
  "Rename File": removes,
  "Rename Directory": removes,
  "Rename File source": { ...removes, alone: undefined },
  // A directory stays where it is while it is open at all; documented for Azure Files.
  "Rename Directory source": removes,
  "Create Hard Link": writes,
  "Get Directory Properties": quiet,
  "Get Directory Metadata": quiet,
  "Set Directory Properties": writes,
  "Set Directory Metadata": writes,
  // Held as long as the lease: nobody else may write or delete.
  "Lease File": {
    access: readData | writeData | deleteAccess,
    share: shareRead,
    breaks: undefined,
    bytes: undefined,
  },
} satisfies Readonly<Record<string, Omit<ShortOpen, "alone"> & { alone?: true | undefined }>>;

export type RestOperation = keyof typeof shortOpens;

export type ShortOpenDecision =
  | { readonly kind: "pass"; readonly state: LockState }
  /** Breaks were started: keep the state and ask again when it changes. */
  | { readonly kind: "wait"; readonly state: LockState; readonly until: Ticks }
  | { readonly kind: "refused"; readonly failure: Failure };

export const deletePending = fail("DeletePending", { elements: { Reason: "SMBDeletePending" } });

/** Whether a REST operation may touch a file at this moment, and whom it must disturb first. */
export function decideShortOpen(
  locks: LockState | undefined,
  operation: RestOperation,
  { now, stretch }: { readonly now: Ticks; readonly stretch?: Stretch | undefined },
): ShortOpenDecision {
  if (locks === undefined) return { kind: "pass", state: noLocks };
  if (locks.deletePending) return { kind: "refused", failure: deletePending };
  const short: ShortOpen = shortOpens[operation] as ShortOpen;
  const colliding = short.alone === true ? locks.opens : collisions(locks, short);
  if (colliding.length > 0) {
    const violation = heldBy("SharingViolation", colliding);
    const only = new Set(colliding.flatMap(({ cacheKey }) => cacheKey ?? []));
    const breaking = breakCaches(locks, "violation", { now, only });
    if (breaking.waitingSince === undefined) {
      return { kind: "refused", failure: violation };
    }
    return waiting(breaking.state, breaking.waitingSince, now, violation);
  }
  const locked = lockedBytes(locks, short, stretch);
  if (locked.length > 0) {
    const ids = new Set(locked.map(({ open }) => open));
    const lockers = locks.opens.filter(({ id }) => ids.has(id));
    return { kind: "refused", failure: heldBy("FileLockConflict", lockers) };
  }
  if (short.breaks === undefined) return { kind: "pass", state: locks };
  const { state, waitingSince } = breakCaches(locks, short.breaks, { now });
  if (waitingSince === undefined) return { kind: "pass", state };
  return waiting(state, waitingSince, now, fail("ClientCacheFlushDelay"));
}

function waiting(state: LockState, since: Ticks, now: Ticks, tooLate: Failure): ShortOpenDecision {
  const until = since + ticksFromSeconds(flushSecondsMax);
  return now < until ? { kind: "wait", state, until } : { kind: "refused", failure: tooLate };
}

function lockedBytes(
  locks: LockState,
  { bytes }: ShortOpen,
  stretch: Stretch | undefined,
): readonly RangeLock[] {
  if (bytes === undefined || stretch === undefined) return noRanges;
  return lockingRanges(locks, stretch, { writes: bytes === "writes" });
}

const noRanges: readonly RangeLock[] = [];
const holdersToldMax = 5;

/** A fault that names the handles it is due to. */
export function heldBy(code: FaultCode, opens: readonly Open[]): Failure {
  const holders = opens.slice(0, holdersToldMax).map(({ id, client }) => ({ id, client }));
  return fail(code, { heldBy: holders });
}
