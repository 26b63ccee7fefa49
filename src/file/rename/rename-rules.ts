import { checkLease } from "../../protocol/lease.ts";
import type { Failure } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { OpenedFile } from "../directory/open-below.ts";
import { deleteAccess, shareRead, shareWrite } from "../locks/access.ts";
import { breakCaches } from "../locks/caching.ts";
import { noLocks, type LockState, type Open } from "../locks/lock-state.ts";
import { collisions } from "../locks/share-modes.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/attributes.ts";

/** What a rename looks at, whichever protocol asks for it. */
export interface RenameFacts {
  readonly source: NodeRecord;
  /** What is open below the source. */
  readonly openBelow: readonly OpenedFile[];
  /** Ids from the root to the directory that it moves into. */
  readonly trail: readonly bigint[];
  /** Of that directory. */
  readonly parentLocks: LockState | undefined;
  /** What the new name means so far, unless that is the source. */
  readonly target: NodeRecord | undefined;
  readonly replaces: boolean;
  readonly ignoresReadOnly: boolean;
  /** The lease ids that the request carries; SMB has none. */
  readonly sourceLease: string | undefined;
  readonly targetLease: string | undefined;
  readonly now: Ticks;
}

export type RenameRefusal =
  | { readonly why: "root" | "into-itself" | "name-taken" | "directory-in-place" }
  | { readonly why: "read-only" | "parent-delete-pending" }
  | { readonly why: "leased"; readonly failure: Failure }
  | { readonly why: "open-below" | "parent-in-use"; readonly opens: readonly Open[] }
  | CachedBelow;

/** Clients may hold what is open below the source only in their caches: they were asked to close
 *  it, and the rename is decided again when one of them has answered. */
export interface CachedBelow {
  readonly why: "cached-below";
  readonly opens: readonly Open[];
  readonly since: Ticks;
  /** The first of those files; its locks are the ones to wait for. */
  readonly file: bigint;
  /** What changes with the breaks. */
  readonly asked: readonly OpenedFile[];
}

/** A rename opens the directory that it moves into, as if to delete there. */
const moving = { access: deleteAccess, share: shareRead | shareWrite };

/** Why a rename may not be, leases and handles included. Handles of source and target themselves
 *  are left to their own locks, which may have to be waited for. */
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
  const colliding = collisions(parentLocks, moving);
  if (colliding.length > 0) return { why: "parent-in-use", opens: colliding };
  return refuseForOpenBelow(openBelow, now);
}

/** [MS-FSA] 2.1.4.2: handles below a directory keep it where it is, but caches give theirs up. */
function refuseForOpenBelow(
  openBelow: readonly OpenedFile[],
  now: Ticks,
): RenameRefusal | undefined {
  const asked: OpenedFile[] = [];
  let first: Pick<CachedBelow, "opens" | "since" | "file"> | undefined;
  for (const { id, state } of openBelow) {
    const breaking = breakCaches(state, "violation", { now });
    const { waitingSince: since } = breaking;
    if (since === undefined) return { why: "open-below", opens: state.opens };
    if (breaking.state !== state) asked.push({ id, state: breaking.state });
    first ??= { opens: state.opens, since, file: id };
  }
  return first && { why: "cached-below", ...first, asked };
}
