import { empty } from "../../content/plan.ts";
import type { Effect } from "../../operation/effects.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { Runtime } from "../../operation/execute.ts";
import {
  appendData,
  dataAccess,
  deleteAccess,
  shareDelete,
  shareWrite,
  writeData,
} from "../locks/access.ts";
import { decideOpen } from "../locks/opens.ts";
import { noLocks, type LockState, type Open } from "../locks/lock-state.ts";
import type { NodeRecord } from "../records.ts";
import { readOnlyAttribute } from "../shared/attributes.ts";
import { resolvePath, type ResolvedPath } from "../share-tree.ts";
import { newNode, replacedNode } from "./new-node.ts";
import { dispositions, OpenAction, type FileOpenRequest } from "./file-open-request.ts";
import { done, refuse, type Refused, type FileResultOrWait } from "./file-result.ts";
import { addEntry, changeNode } from "./node-effects.ts";
import {
  writeTransaction,
  keepLocks,
  readSnapshot,
  type Found,
  type FileTransaction,
} from "./file-transaction.ts";

export interface Opened {
  readonly node: NodeRecord;
  readonly open: Open;
  readonly locks: LockState;
  readonly action: number;
}

/** Every right there is on a file. */
export const fullAccess = 0x001f_01ff;
const hiddenOrSystem = 0x6;

/** Opens or creates what a path names, and enters the handle in the file's locks, in one step. */
export function openFile(
  runtime: Runtime,
  wish: FileOpenRequest,
): Promise<FileResultOrWait<Opened>> {
  if (wish.epoch !== undefined) return readSnapshot(runtime, (work) => openPast(work, wish));
  return writeTransaction(runtime, async (work) => {
    const share = await work.share(wish.share);
    if (share === undefined) return refuse("share-gone");
    const walked = await resolvePath(work.view, { share: share.id }, wish.path);
    if (walked.parent === undefined) return refuse("path-not-found");
    const place = { share, key: walked.key };
    if (wish.cacheFile !== undefined && wish.cacheFile !== walked.target?.id) {
      return refuse("invalid-parameter");
    }
    return walked.target === undefined
      ? create(work, wish, { ...place, walked, parent: walked.parent })
      : openPresent(work, wish, { ...place, node: walked.target });
  });
}

interface Vacancy extends Omit<Found, "node"> {
  readonly walked: ResolvedPath;
  readonly parent: NodeRecord;
}

async function create(
  work: FileTransaction,
  wish: FileOpenRequest,
  { share, key, parent }: Vacancy,
): Promise<FileResultOrWait<Opened>> {
  if (dispositions[wish.disposition].missing === "fail") return refuse("name-not-found");
  const around = await work.locksOf(share.id, parent.id);
  if (around.deletePending) return refuse("delete-pending");
  if ((wish.attributes & readOnlyAttribute) !== 0 && wish.open.deleteOnClose) {
    return refuse("cannot-delete");
  }
  const made = await newNode({ work, share, parent, wish });
  const open: Open = { ...wish.open, access: grantedAccess(wish, undefined), openedAt: work.now };
  const decision = decideOpen(noLocks, {
    open,
    overwrites: false,
    cache: wish.cache,
    now: work.now,
  });
  if (decision.kind !== "granted") throw new Error("nobody else has a new file open");
  const node = made.node;
  const content = node.kind === "file" ? empty(0) : undefined;
  await work.apply([
    ...addEntry({ share, key, node }, { parent, now: work.now, content }),
    ...made.effects,
    keepLocks(share.id, node.id, decision.state),
  ]);
  return done({ node, open, locks: decision.state, action: OpenAction.created });
}

async function openPresent(
  work: FileTransaction,
  wish: FileOpenRequest,
  found: Found,
): Promise<FileResultOrWait<Opened>> {
  const { share, node } = found;
  const before = await work.locksOf(share.id, node.id);
  const refused = before.deletePending ? refuse("delete-pending") : checkPresent(wish, node);
  if (refused !== undefined) return refused;
  const replaces = dispositions[wish.disposition].present === "replace";
  const access = grantedAccess(wish, node);
  const open: Open = { ...wish.open, access, openedAt: work.now };
  // Whoever replaces the bytes writes them, whatever rights were asked for.
  const judged = replaces ? { ...open, access: access | writeData } : open;
  if (isLeasedAgainst(node, judged.access, work)) return refuse("sharing-violation");
  const decision = decideOpen(before, {
    open: judged,
    overwrites: replaces,
    cache: wish.cache,
    now: work.now,
  });
  if (decision.kind === "refused") return refuse(decision.refusal);
  if (decision.kind === "wait") {
    // Writing what is there already would wake all who wait, this one too, again and again.
    if (decision.keysToNotify.length > 0) {
      await work.apply([keepLocks(share.id, node.id, decision.state)]);
    }
    return { kind: "wait", file: node.id };
  }
  const state = replaces ? withAccess(decision.state, open) : decision.state;
  const next = replaces ? replacedNode(work, found, wish) : { node, effects: noEffects };
  const changes = replaces ? changeNode(found, next.node, empty(0)) : noEffects;
  await work.apply([...changes, ...next.effects, keepLocks(share.id, node.id, state)]);
  return done({ node: next.node, open, locks: state, action: actionOf(wish, replaces) });
}

const noEffects: readonly Effect[] = [];

/** The right to write that replacing implied ends with it. */
function withAccess(state: LockState, open: Open): LockState {
  return { ...state, opens: state.opens.map((each) => (each.id === open.id ? open : each)) };
}

function actionOf({ disposition }: FileOpenRequest, replaces: boolean): number {
  if (!replaces) return OpenAction.opened;
  return disposition === "supersede" ? OpenAction.superseded : OpenAction.overwritten;
}

function checkPresent(wish: FileOpenRequest, node: NodeRecord): Refused | undefined {
  const isDirectory = node.kind === "directory";
  const verb = dispositions[wish.disposition].present;
  if (verb === "fail") return refuse("name-collision");
  if (wish.wants === "directory" && !isDirectory) return refuse("not-directory");
  if (wish.wants === "file" && isDirectory) return refuse("is-directory");
  if (verb === "replace" && isDirectory) return refuse("name-collision");
  const isReadOnly = (node.attributes & readOnlyAttribute) !== 0;
  if (isReadOnly && wish.open.deleteOnClose) return refuse("cannot-delete");
  if (isReadOnly && !isDirectory) {
    const writes = (wish.open.access & (writeData | appendData)) !== 0;
    if (writes || verb === "replace") return refuse("access-denied");
  }
  const hidden = node.attributes & hiddenOrSystem;
  if (verb === "replace" && (hidden & ~wish.attributes) !== 0) return refuse("access-denied");
  return undefined;
}

export function maximalAccess(node: NodeRecord | undefined): number {
  const isReadOnly = node?.kind === "file" && (node.attributes & readOnlyAttribute) !== 0;
  return isReadOnly ? fullAccess & ~(writeData | appendData) : fullAccess;
}

function grantedAccess(wish: FileOpenRequest, node: NodeRecord | undefined): number {
  return wish.wantsMaximum ? wish.open.access | maximalAccess(node) : wish.open.access;
}

/** A lease of REST keeps writers and deleters out, as an open that shares reading alone would. */
function isLeasedAgainst(node: NodeRecord, access: number, work: FileTransaction): boolean {
  if ((dataAccess(access) & (shareWrite | shareDelete)) === 0) return false;
  return node.kind === "file" && isLocked(node.lease, work.now);
}

/** The past cannot be changed, so nothing needs to be locked. */
async function openPast(
  work: FileTransaction,
  wish: FileOpenRequest,
): Promise<FileResultOrWait<Opened>> {
  const share = await work.share(wish.share);
  if (share === undefined) return refuse("share-gone");
  const walked = await resolvePath(work.view, { share: share.id, epoch: wish.epoch }, wish.path);
  if (walked.parent === undefined) return refuse("path-not-found");
  const { target } = walked;
  const { present, missing } = dispositions[wish.disposition];
  if (target === undefined) {
    return refuse(missing === "create" ? "read-only-snapshot" : "name-not-found");
  }
  if (present === "replace") return refuse("read-only-snapshot");
  const refused = checkPresent(wish, target);
  if (refused !== undefined) return refused;
  const writing = writeData | appendData | deleteAccess;
  if ((wish.open.access & writing) !== 0) return refuse("access-denied");
  const access = grantedAccess(wish, target) & ~writing;
  const open: Open = { ...wish.open, access, openedAt: work.now };
  return done({ node: target, open, locks: noLocks, action: OpenAction.opened });
}
