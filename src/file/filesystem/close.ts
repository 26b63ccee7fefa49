import type { Runtime } from "../../operation/execute.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/delete-directory.ts";
import { closeHandles } from "../handle/close-handles.ts";
import { decideClose } from "../locks/opens.ts";
import type { LockState } from "../locks/lock-state.ts";
import type { NodeRecord } from "../records.ts";
import { nodeById } from "../share-tree.ts";
import { executeAtOnce, type SmbOperation } from "./execute-operation.ts";
import type { FilePlace } from "./file-place.ts";
import { loadLocks, loadNode, putLocks } from "./handle-operation.ts";
import type { LoadedNode } from "./handle-operation.ts";
import { entriesChanged } from "./node-effects.ts";

export interface ClosedFile {
  /** As it was when the handle closed; undefined if it was deleted before. */
  readonly node: NodeRecord | undefined;
  /** The file was deleted with its last handle. */
  readonly isGone: boolean;
  /** The file will be deleted when other handles close. */
  readonly isPending: boolean;
}

export interface CloseRequest {
  readonly place: FilePlace;
  readonly handles: ReadonlySet<bigint>;
}

interface LoadedHandles {
  /** Undefined if the file or its share was deleted. */
  readonly file: LoadedNode | undefined;
  /** Undefined for a file of a share snapshot. */
  readonly locks: LockState | undefined;
  readonly hasChildren: boolean;
}

/**
 * Closes handles of one file with their locks and caching grants, and deletes the file if it was
 * delete-pending. All handles in one transaction, because each changes the same lock record.
 */
export const closeOperation: SmbOperation<
  CloseRequest,
  LoadedHandles,
  NodeRecord | undefined,
  ClosedFile
> = {
  name: "close",
  effect: "writes",
  // A delete-pending file is deleted by a close.
  mayUseReserve: true,
  load: async (view, { place }) => {
    const file = await loadNode(view, place);
    if (place.snapshot !== undefined) return { file, locks: undefined, hasChildren: false };
    const locks = await loadLocks(view, place.share.id, place.file);
    return { file, locks, hasChildren: await hasEntries(view, file) };
  },
  // The parent directory, if the close may delete the file.
  reads: async (view, { request: { handles }, loaded: { file, locks } }) => {
    const mayDelete = locks !== undefined && decideClose(locks, handles, { mayDelete: true }).gone;
    return file && mayDelete ? nodeById(view, file.share.id, file.node.parent) : undefined;
  },
  decide: ({ request, loaded, now, readResult: parent }) => {
    const { place, handles } = request;
    const { file, locks } = loaded;
    const closed = { node: file?.node, isGone: false, isPending: false };
    if (locks === undefined) return { value: closed };
    const shareId = place.share.id;
    if (file === undefined) {
      const { state } = decideClose(locks, handles, { mayDelete: false });
      return { value: closed, effects: [putLocks(shareId, place.file, state)] };
    }
    const { share, node } = file;
    const { effects, isGone, isPending } = closeHandles(shareId, {
      share,
      node,
      locks,
      handles,
      hasChildren: loaded.hasChildren,
      now,
    });
    const touched = isGone && parent !== undefined ? entriesChanged(share, parent, now) : [];
    return { value: { node, isGone, isPending }, effects: [...effects, ...touched] };
  },
};

async function hasEntries(view: RecordView, file: LoadedNode | undefined): Promise<boolean> {
  if (file?.node.kind !== "directory") return false;
  return hasChildren(view, file.share.id, file.node.id);
}

export async function closeFile(
  runtime: Runtime,
  place: FilePlace,
  handles: readonly bigint[],
): Promise<ClosedFile> {
  const request = { place, handles: new Set(handles) };
  const outcome = await executeAtOnce(runtime, closeOperation, request);
  if (outcome.kind === "fault") throw new Error("closing a handle cannot fail");
  return outcome.value;
}
