import { checkLease } from "../../protocol/lease.ts";
import type { Failure } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { OpenedFile } from "../directory/children.ts";
import { Right, shareRead, shareWrite } from "../locks/access.ts";
import { breakCaches } from "../locks/caching.ts";
import { noLocks, type LockState, type Open } from "../locks/lock-state.ts";
import { sharingConflicts } from "../locks/opens.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/smb-properties.ts";

/** The rules of renames that REST and SMB share: whether a file or directory may be renamed. */

/** What `refuseRename` must know. */
export interface RenameFacts {
  readonly source: NodeRecord;
  /** If the source is a directory: the open files below it. */
  readonly openBelow: readonly OpenedFile[];
  /** Ids of the directories from the root to the new parent directory, inclusive: the source must
   *  not be one of them. */
  readonly trail: readonly bigint[];
  /** Lock state of the new parent directory. */
  readonly parentLocks: LockState | undefined;
  /** The file that would be replaced; undefined if there is none or if it is the source. */
  readonly target: NodeRecord | undefined;
  /** Whether an existing file with the new name is replaced. */
  readonly replaces: boolean;
  readonly ignoresReadOnly: boolean;
  /** Lease ids of the request; undefined for SMB. */
  readonly sourceLease: string | undefined;
  readonly targetLease: string | undefined;
  readonly now: Ticks;
}

/** Why a rename is rejected or must wait; each protocol maps it to its own error. */
export type RenameRefusal =
  | { readonly why: "root" | "into-itself" | "name-taken" | "directory-in-place" }
  | { readonly why: "read-only" | "parent-delete-pending" }
  | { readonly why: "leased"; readonly failure: Failure }
  | { readonly why: "open-below" | "parent-in-use"; readonly opens: readonly Open[] }
  | CachedBelow;

/** Files below the source are open, perhaps only for caching. Breaks of their handle caching were
 *  started; the rename is decided again after an acknowledgement. */
export interface CachedBelow {
  readonly why: "cached-below";
  readonly opens: readonly Open[];
  readonly since: Ticks;
  /** Id of the first of these files, whose lock state the rename waits for. */
  readonly file: bigint;
  /** The files whose lock state was changed by the breaks, with the new state. */
  readonly changedLocks: readonly OpenedFile[];
}

/** The access that a rename needs to the new parent directory: of an open with delete access whose
 *  share mode permits to read and write. Opens of the directory can exclude it. */
const moving = { access: Right.delete, share: shareRead | shareWrite };

/** Why a rename is not allowed; undefined if it is allowed. Includes leases, and handles of the new
 *  parent directory and below the source. Handles of the source and of the target are checked by
 *  the callers. */
export function refuseRename(facts: RenameFacts): RenameRefusal | undefined {
  const { source, target, trail, replaces, now } = facts;
  if (source.id === rootId) return { why: "root" };
  if (trail.includes(source.id)) return { why: "into-itself" };
  if (target?.kind === "directory") return { why: replaces ? "directory-in-place" : "name-taken" };
  const leased = checkLease(source.lease, facts.sourceLease, "match-if-leased", "file", now);
  if (!leased.ok) return { why: "leased", failure: leased };
  return refuseReplacing(facts) ?? refuseForHandles(facts);
}

function refuseReplacing(facts: RenameFacts): RenameRefusal | undefined {
  const { target, replaces, ignoresReadOnly, targetLease, now } = facts;
  if (target === undefined) return undefined;
  if (!replaces) return { why: "name-taken" };
  if (isReadOnly(target) && !ignoresReadOnly) return { why: "read-only" };
  const leased = checkLease(target.lease, targetLease, "match-if-leased", "file", now);
  return leased.ok ? undefined : { why: "leased", failure: leased };
}

function refuseForHandles({
  openBelow,
  parentLocks = noLocks,
  now,
}: RenameFacts): RenameRefusal | undefined {
  if (parentLocks.deletePending) return { why: "parent-delete-pending" };
  const colliding = sharingConflicts(parentLocks, moving);
  if (colliding.length > 0) return { why: "parent-in-use", opens: colliding };
  return refuseForOpenBelow(openBelow, now);
}

/** Open handles below a directory prevent its rename, except those that clients close when their
 *  caching is broken ([MS-FSA] 2.1.4.2). */
function refuseForOpenBelow(
  openBelow: readonly OpenedFile[],
  now: Ticks,
): RenameRefusal | undefined {
  const changedLocks: OpenedFile[] = [];
  let first: Pick<CachedBelow, "opens" | "since" | "file"> | undefined;
  for (const { id, state } of openBelow) {
    const breaking = breakCaches(state, "violation", { now });
    const { since } = breaking;
    if (since === undefined) return { why: "open-below", opens: state.opens };
    if (breaking.state !== state) changedLocks.push({ id, state: breaking.state });
    first ??= { opens: state.opens, since, file: id };
  }
  return first && { why: "cached-below", ...first, changedLocks };
}
