import type { Runtime } from "../../operation/execute.ts";
import { childrenOf } from "../directory/children.ts";
import { breakCaches } from "../locks/caching.ts";
import { decideClose } from "../locks/opens.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { removeEntry } from "./node-effects.ts";
import {
  writeTransaction,
  keepLocks,
  type FilePlace,
  type FileTransaction,
} from "./file-transaction.ts";

export interface ClosedFile {
  /** As it was when the handle closed; nothing if it was gone before. */
  readonly node: NodeRecord | undefined;
  /** The file went away with its last handle. */
  readonly isGone: boolean;
  /** It goes away as soon as others have closed it, too. */
  readonly isPending: boolean;
}

/**
 * Ends handles of one file: their locks, their caches, and the file if it was waiting to go away.
 * All in one step, because each step writes the record that all handles of the file share.
 */
export function closeFile(
  runtime: Runtime,
  place: FilePlace,
  handles: readonly bigint[],
): Promise<ClosedFile> {
  const ids = new Set(handles);
  const close = async (work: FileTransaction): Promise<ClosedFile> => {
    const found = await work.find(place);
    if (found === undefined || place.snapshot !== undefined) {
      if (place.snapshot === undefined) await forget(work, place, ids);
      return { node: found?.node, isGone: false, isPending: false };
    }
    const { share, node } = found;
    const before = await work.locksOf(share.id, node.id);
    const mayDelete = node.id !== rootId && (await isEmpty(work, place.share.id, node));
    const { state, gone } = decideClose(before, ids, { mayDelete });
    const isGone = gone && mayDelete;
    // Whoever keeps the file open only because it may is asked to let it go.
    const begins = state.deletePending && !before.deletePending;
    const left = begins ? breakCaches(state, "remove", { now: work.now }).state : state;
    await work.apply([
      ...(isGone ? await removeEntry(work, found) : []),
      keepLocks(share.id, node.id, isGone ? { ...left, deletePending: false } : left),
    ]);
    return { node, isGone, isPending: state.deletePending && !isGone };
  };
  // The deletion of a file is a close.
  return writeTransaction(runtime, close, { mayUseReserve: true });
}

/** The file is gone, or its share: only the handles are left to take away. */
async function forget(
  work: FileTransaction,
  { share, file }: FilePlace,
  ids: ReadonlySet<bigint>,
): Promise<void> {
  const before = await work.locksOf(share.id, file);
  const { state } = decideClose(before, ids, { mayDelete: false });
  await work.apply([keepLocks(share.id, file, state)]);
}

export async function isEmpty(
  work: FileTransaction,
  share: bigint,
  node: NodeRecord,
): Promise<boolean> {
  if (node.kind !== "directory") return true;
  const wanted = { directory: node.id, prefix: "", from: "", limit: 1 };
  return (await childrenOf(work.view, { share }, wanted)).length === 0;
}
