import { put, remove, type Effect } from "../../operation/effects.ts";
import type { Runtime } from "../../operation/execute.ts";
import { openBelow } from "../directory/open-below.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import { nodes, nodeLocations, rootId, type NodeRecord } from "../records.ts";
import { refuseRename, type RenameRefusal } from "../rename/rename-rules.ts";
import { keepForSnapshots } from "../shared/node-replies.ts";
import { nodeById, resolvePath, type ResolvedPath } from "../share-tree.ts";
import { isEmpty } from "./close.ts";
import { holds } from "./read.ts";
import { done, refuse, type Refusal, type Refused } from "./file-result.ts";
import type { FileResultOrWait, FileWait } from "./file-result.ts";
import { entriesChanged, removeNode } from "./node-effects.ts";
import {
  writeTransaction,
  keepLocks,
  type FilePlace,
  type Found,
  type FileTransaction,
} from "./file-transaction.ts";

export interface FileRenameRequest {
  readonly place: FilePlace;
  readonly handle: bigint;
  readonly path: readonly string[];
  readonly replaces: boolean;
}

export interface Renamed {
  readonly before: NodeRecord;
  readonly after: NodeRecord;
}

/** Moves one key, whatever hangs below it: handles and children know the file by its id. */
export function renameFile(
  runtime: Runtime,
  wish: FileRenameRequest,
): Promise<FileResultOrWait<Renamed>> {
  const { place, path } = wish;
  if (place.snapshot !== undefined) return Promise.resolve(refuse("read-only-snapshot"));
  return writeTransaction(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    if (path.length === 0) return refuse("access-denied");
    const state = await work.locksOf(found.share.id, found.node.id);
    if (!holds(state, wish.handle)) return refuse("file-closed");
    if (state.deletePending) return refuse("access-denied");
    const walked = await resolvePath(work.view, { share: found.share.id }, path);
    if (walked.parent === undefined) return refuse("path-not-found");
    const ends = { ...walked, parent: walked.parent };
    const stopped =
      (await checkRules(work, found, ends, wish)) ??
      (await waitForSource(work, found, state, wish.handle)) ??
      (await waitForTarget(work, found, walked));
    return stopped ?? move(work, found, ends, wish);
  });
}

/** Where a rename leads: there is a directory that takes it in. */
type Ends = ResolvedPath & { readonly parent: NodeRecord };

/** By the rules that REST has, too. */
async function checkRules(
  work: FileTransaction,
  { share, node }: Found,
  { parent, target, trail }: Ends,
  { replaces }: FileRenameRequest,
): Promise<Refused | FileWait | undefined> {
  const isDirectory = node.kind === "directory" && node.id !== rootId;
  const refusal = refuseRename({
    source: node,
    openBelow: isDirectory ? await openBelow(work.view, share.id, node.id) : [],
    trail,
    parentLocks: await work.locksOf(share.id, parent.id),
    target: target?.id === node.id ? undefined : target,
    replaces,
    ignoresReadOnly: false,
    sourceLease: undefined,
    targetLease: undefined,
    now: work.now,
  });
  if (refusal === undefined) return undefined;
  if (refusal.why === "cached-below") {
    const { asked, file } = refusal;
    if (asked.length > 0) {
      await work.apply(asked.map(({ id, state }) => keepLocks(share.id, id, state)));
    }
    return { kind: "wait", file };
  }
  if (refusal.why === "directory-in-place" && isDirectory && target !== undefined) {
    // To the Linux client that is ENOTEMPTY, which POSIX has for it; a denied access is EACCES.
    if (!(await isEmpty(work, share.id, target))) return refuse("directory-not-empty");
  }
  return refuse(refusals[refusal.why]);
}

const refusals: Readonly<Record<Exclude<RenameRefusal["why"], "cached-below">, Refusal>> = {
  root: "access-denied",
  "into-itself": "invalid-parameter",
  "name-taken": "name-collision",
  "directory-in-place": "access-denied",
  "read-only": "access-denied",
  leased: "sharing-violation",
  "parent-delete-pending": "delete-pending",
  "open-below": "access-denied",
  "parent-in-use": "sharing-violation",
};

/** Who caches a handle of the source is asked to give it up. */
async function waitForSource(
  work: FileTransaction,
  { share, node }: Found,
  state: LockState,
  handle: bigint,
): Promise<FileWait | undefined> {
  const ownKey = state.opens.find(({ id }) => id === handle)?.cacheKey;
  const breaking = breakCaches(state, "remove", { ownKey, now: work.now });
  if (breaking.waitingSince === undefined) return undefined;
  if (breaking.keysToNotify.length > 0)
    await work.apply([keepLocks(share.id, node.id, breaking.state)]);
  return { kind: "wait", file: node.id };
}

/** Nothing takes the place of a file that is open, but cached handles are given up first. */
async function waitForTarget(
  work: FileTransaction,
  { share, node }: Found,
  { target }: ResolvedPath,
): Promise<Refused | FileWait | undefined> {
  if (target === undefined || target.id === node.id) return undefined;
  const state = await work.locksOf(share.id, target.id);
  if (state.opens.length === 0) return undefined;
  const breaking = breakCaches(state, "violation", { now: work.now });
  if (breaking.waitingSince === undefined) return refuse("access-denied");
  if (breaking.keysToNotify.length > 0)
    await work.apply([keepLocks(share.id, target.id, breaking.state)]);
  return { kind: "wait", file: target.id };
}

async function move(
  work: FileTransaction,
  found: Found,
  walked: Ends,
  { path }: FileRenameRequest,
): Promise<FileResultOrWait<Renamed>> {
  const { share, node, key } = found;
  const { target, parent } = walked;
  if (target !== undefined && target.id !== node.id) {
    await work.apply(removeNode({ share, key: walked.key, node: target }));
  }
  const newETag = work.stampAfter(node.etag);
  const name = path.at(-1) ?? "";
  const next: NodeRecord = {
    ...node,
    name,
    parent: parent.id,
    etag: newETag,
    change: newETag,
    since: share.epoch,
  };
  const isSameKey = key.parent === walked.key.parent && key.folded === walked.key.folded;
  await work.apply([
    ...keepForSnapshots({ share, key }, node),
    put(nodes, walked.key, next),
    ...(isSameKey ? [] : [remove(nodes, key)]),
    put(
      nodeLocations,
      { share: share.id, id: node.id },
      { parent: parent.id, folded: walked.key.folded },
    ),
    ...(await touchBoth(work, found, parent)),
  ]);
  return done({ before: node, after: next });
}

/** The directory that it leaves and the one that it comes into, which may be the same. */
async function touchBoth(
  work: FileTransaction,
  { share, node }: Found,
  to: NodeRecord,
): Promise<readonly Effect[]> {
  const touched = entriesChanged(share, to, work.now);
  if (node.parent === to.id) return touched;
  const from = await nodeById(work.view, share.id, node.parent);
  return from === undefined ? touched : [...touched, ...entriesChanged(share, from, work.now)];
}
