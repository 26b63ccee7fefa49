import type { Effect } from "../../operation/effects.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Runtime } from "../../operation/execute.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import { permissions, rootId, type NodeRecord, type ShareRecord } from "../records.ts";
import { directoryAttribute, readOnlyAttribute } from "../shared/attributes.ts";
import { quotaBytes } from "../shared/limits.ts";
import { usedBytes } from "../shared/quota.ts";
import { rootSddl, wellKnownSddl } from "../shared/sddl.ts";
import { keepPermission } from "../shared/smb-properties.ts";
import { pathOf, rootKey } from "../share-tree.ts";
import { isEmpty } from "./close.ts";
import { holds } from "./read.ts";
import { done, refuse, type FileResult, type FileResultOrWait } from "./file-result.ts";
import { changeNode } from "./node-effects.ts";
import {
  writeTransaction,
  keepLocks,
  readSnapshot,
  type FilePlace,
  type Found,
  type FileTransaction,
} from "./file-transaction.ts";

export interface FileInfo {
  readonly share: ShareRecord;
  readonly node: NodeRecord;
  readonly locks: LockState;
  /** From the root down. */
  readonly path: readonly string[];
}

export function fileInfo(
  runtime: Runtime,
  place: FilePlace,
  handle: bigint,
): Promise<FileResult<FileInfo>> {
  return readSnapshot(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    const { share, node } = found;
    const locks = await work.locksOf(share.id, node.id);
    if (place.snapshot !== undefined) {
      return done({ share, node, locks, path: place.snapshot.path });
    }
    if (!holds(locks, handle)) return refuse("file-closed");
    const path = (await pathOf(work.view, share.id, node.id)) ?? [];
    return done({ share, node, locks, path });
  });
}

export interface Space {
  readonly totalBytes: bigint;
  readonly freeBytes: bigint;
  readonly createdAt: Ticks;
}

/** A share is a disk of the size of its quota. */
export function spaceOf(runtime: Runtime, place: FilePlace): Promise<FileResult<Space>> {
  return readSnapshot(runtime, async (work) => {
    const share = await work.share(place.share);
    if (share === undefined) return refuse("share-gone");
    const totalBytes = quotaBytes(share);
    const used = await usedBytes(work.view, share);
    const freeBytes = used > totalBytes ? 0n : totalBytes - used;
    const root = await work.nodeAt(rootKey(share.id));
    return done({ totalBytes, freeBytes, createdAt: root?.created ?? share.etag });
  });
}

export interface BasicChange {
  readonly created?: Ticks | undefined;
  readonly lastAccess?: Ticks | undefined;
  readonly lastWrite?: Ticks | undefined;
  readonly change?: Ticks | undefined;
  /** Whoever has set it does not want it to follow other changes. */
  readonly keepsChange?: boolean;
  readonly attributes?: number | undefined;
}

export function setBasicInfo(
  runtime: Runtime,
  place: FilePlace,
  wanted: BasicChange,
): Promise<FileResult<NodeRecord>> {
  return changeFound(runtime, place, async (work, found) => {
    const { node } = found;
    const newETag = work.stampAfter(node.etag);
    const isDirectory = node.kind === "directory";
    const kind = isDirectory ? directoryAttribute : 0;
    const attributes = wanted.attributes === undefined ? node.attributes : wanted.attributes | kind;
    return changeNode(found, {
      ...node,
      etag: newETag,
      created: wanted.created ?? node.created,
      lastAccess: wanted.lastAccess ?? node.lastAccess,
      lastWrite: wanted.lastWrite ?? node.lastWrite,
      change: wanted.change ?? (wanted.keepsChange === true ? node.change : newETag),
      attributes,
    });
  });
}

async function changeFound(
  runtime: Runtime,
  place: FilePlace,
  effectsOf: (work: FileTransaction, found: Found) => Promise<readonly Effect[]>,
): Promise<FileResult<NodeRecord>> {
  if (place.snapshot !== undefined) return refuse("read-only-snapshot");
  return writeTransaction(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    // A handle that only changes attributes or rights goes past share modes, not past leases.
    if (isLocked(found.node.lease, work.now)) return refuse("sharing-violation");
    await work.apply(await effectsOf(work, found));
    return done(found.node);
  });
}

export function securityOf(runtime: Runtime, place: FilePlace): Promise<FileResult<string>> {
  return readSnapshot(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    return done(await sddlOf(work, found));
  });
}

async function sddlOf(work: FileTransaction, { share, node }: Found): Promise<string> {
  const { permissionKey: key } = node;
  if (key === undefined) return rootSddl;
  const kept = await work.view.get(permissions, { share: share.id, key });
  return kept?.sddl ?? wellKnownSddl(key) ?? rootSddl;
}

export function setSecurity(
  runtime: Runtime,
  place: FilePlace,
  revise: (present: string) => string,
): Promise<FileResult<NodeRecord>> {
  return changeFound(runtime, place, async (work, found) => {
    const { share, node } = found;
    const { key, effects } = keepPermission(share.id, revise(await sddlOf(work, found)));
    const newETag = work.stampAfter(node.etag);
    const next = { ...node, etag: newETag, change: newETag, permissionKey: key };
    return [...effects, ...changeNode(found, next)];
  });
}

/** Marks a file to go away with its last handle, or takes the mark back. */
export function setDeletePending(
  runtime: Runtime,
  place: FilePlace,
  handle: bigint,
  isPending: boolean,
): Promise<FileResultOrWait<void>> {
  return writeTransaction(runtime, async (work) => {
    const found = place.snapshot === undefined ? await work.find(place) : undefined;
    if (found === undefined) return refuse("file-closed");
    const { share, node } = found;
    const state = await work.locksOf(share.id, node.id);
    if (!holds(state, handle)) return refuse("file-closed");
    if (!isPending) {
      await work.apply([keepLocks(share.id, node.id, { ...state, deletePending: false })]);
      return done(undefined);
    }
    if ((node.attributes & readOnlyAttribute) !== 0) return refuse("cannot-delete");
    if (node.id === rootId) return refuse("cannot-delete");
    if (!(await isEmpty(work, share.id, node))) return refuse("directory-not-empty");
    return markPending(work, state, { share: share.id, file: node.id, handle });
  });
}

/** Whoever keeps a handle only for later is asked to let go of it first. */
async function markPending(
  work: FileTransaction,
  state: LockState,
  { share, file, handle }: { share: bigint; file: bigint; handle: bigint },
): Promise<FileResultOrWait<void>> {
  const ownKey = state.opens.find(({ id }) => id === handle)?.cacheKey;
  const breaking = breakCaches(state, "remove", { ownKey, now: work.now });
  if (breaking.waitingSince !== undefined) {
    if (breaking.keysToNotify.length > 0)
      await work.apply([keepLocks(share, file, breaking.state)]);
    return { kind: "wait", file };
  }
  await work.apply([keepLocks(share, file, { ...breaking.state, deletePending: true })]);
  return done(undefined);
}
