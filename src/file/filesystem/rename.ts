import { put, remove } from "../../core/effects.ts";
import type { Runtime } from "../../execution/execute.ts";
import { deleteAccess, shareRead, shareWrite } from "../locks/access.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import { collisions } from "../locks/share-modes.ts";
import { locks, nodes, places, rootId, type NodeRecord } from "../records.ts";
import { readOnlyAttribute } from "../shared/attributes.ts";
import { keepForSnapshots } from "../shared/revise.ts";
import { walk, type Walked } from "../tree.ts";
import { holds } from "./read.ts";
import { done, refuse, type Refused, type WaitingOutcome, type Waits } from "./refusal.ts";
import { removeNode } from "./revision.ts";
import { change, keepLocks, type FilePlace, type Found, type Work } from "./work.ts";

export interface RenameWish {
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
export function renameFile(runtime: Runtime, wish: RenameWish): Promise<WaitingOutcome<Renamed>> {
  const { place, path } = wish;
  if (place.snapshot !== undefined) return Promise.resolve(refuse("read-only-snapshot"));
  return change(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    if (found.node.id === rootId || path.length === 0) return refuse("access-denied");
    const state = await work.locksOf(found.share.id, found.node.id);
    if (!holds(state, wish.handle)) return refuse("file-closed");
    if (state.deletePending) return refuse("access-denied");
    const walked = await walk(work.view, { share: found.share.id }, path);
    if (walked.parent === undefined) return refuse("path-not-found");
    const blocked = await checkSource(work, found, walked, state, wish.handle);
    if (blocked !== undefined) return blocked;
    if (await isParentHeld(work, found.share.id, walked.parent.id)) {
      return refuse("sharing-violation");
    }
    return move(work, found, walked, wish);
  });
}

/** Handles below a directory keep it where it is, and so do those who cache it. */
async function checkSource(
  work: Work,
  { share, node }: Found,
  walked: Walked,
  state: LockState,
  handle: bigint,
): Promise<Refused | Waits | undefined> {
  if (walked.trail.includes(node.id)) return refuse("invalid-parameter");
  if (node.kind === "directory") {
    const open = await openBelow(work, share.id, node.id);
    if (open) return refuse("access-denied");
  }
  const ownKey = state.opens.find(({ id }) => id === handle)?.cacheKey;
  const breaking = breakCaches(state, "remove", { ownKey, now: work.now });
  if (breaking.waitingSince === undefined) return undefined;
  if (breaking.told.length > 0) await work.apply([keepLocks(share.id, node.id, breaking.state)]);
  return { kind: "wait", file: node.id };
}

const moving = { access: deleteAccess, share: shareRead | shareWrite };

/** A rename opens the directory that it moves into, as if to delete there. */
async function isParentHeld(work: Work, share: bigint, parent: bigint): Promise<boolean> {
  return collisions(await work.locksOf(share, parent), moving).length > 0;
}

async function move(
  work: Work,
  found: Found,
  walked: Walked,
  { path, replaces }: RenameWish,
): Promise<WaitingOutcome<Renamed>> {
  const { share, node, key } = found;
  const { target, parent } = walked;
  if (parent === undefined) return refuse("path-not-found");
  const isOther = target !== undefined && target.id !== node.id;
  if (isOther) {
    const refused = await checkTarget(work, share.id, target, replaces);
    if (refused !== undefined) return refused;
    await work.apply(removeNode({ share, key: walked.key, node: target }));
  }
  const stamp = work.stampAfter(node.etag);
  const name = path.at(-1) ?? "";
  const next: NodeRecord = {
    ...node,
    name,
    parent: parent.id,
    etag: stamp,
    change: stamp,
    since: share.epoch,
  };
  const isSameKey = key.parent === walked.key.parent && key.folded === walked.key.folded;
  await work.apply([
    ...keepForSnapshots({ share, key }, node),
    put(nodes, walked.key, next),
    ...(isSameKey ? [] : [remove(nodes, key)]),
    put(places, { share: share.id, id: node.id }, { parent: parent.id, folded: walked.key.folded }),
  ]);
  return done({ before: node, after: next });
}

async function checkTarget(
  work: Work,
  share: bigint,
  target: NodeRecord,
  replaces: boolean,
): Promise<Refused | Waits | undefined> {
  if (!replaces) return refuse("name-collision");
  if (target.kind === "directory") return refuse("access-denied");
  if ((target.attributes & readOnlyAttribute) !== 0) return refuse("access-denied");
  const state = await work.locksOf(share, target.id);
  if (state.opens.length === 0) return undefined;
  const breaking = breakCaches(state, "violation", { now: work.now });
  if (breaking.waitingSince === undefined) return refuse("access-denied");
  if (breaking.told.length > 0) await work.apply([keepLocks(share, target.id, breaking.state)]);
  return { kind: "wait", file: target.id };
}

/** Open files of one share that are looked through before a directory moves. */
const openFilesMax = 100_000;

async function openBelow(work: Work, share: bigint, directory: bigint): Promise<boolean> {
  const bounds = { ...locks.range([share]), limit: openFilesMax };
  for await (const batch of work.view.scan(locks, bounds)) {
    for (const { key } of batch) {
      const file = locks.parts(key)[1];
      if (typeof file === "bigint" && (await isBelow(work, share, file, directory))) return true;
    }
  }
  return false;
}

const depthMax = 256;

async function isBelow(
  work: Work,
  share: bigint,
  file: bigint,
  directory: bigint,
): Promise<boolean> {
  let at = file;
  for (let depth = 0; at !== rootId && depth < depthMax; depth += 1) {
    const place = await work.view.get(places, { share, id: at });
    if (place === undefined) return false;
    if (place.parent === directory) return true;
    at = place.parent;
  }
  return false;
}
