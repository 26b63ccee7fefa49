import type { Runtime } from "../../operation/work.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/directories.ts";
import { changedHandles, writesEvents } from "../events.ts";
import { closeHandles } from "../handle/close-handles.ts";
import { decideClose } from "../locks/opens.ts";
import type { LockState } from "../locks/lock-state.ts";
import type { NodeRecord } from "../records.ts";
import { nodeById } from "../share-tree.ts";
import { executeAtOnce, type SmbOperation } from "./execute-operation.ts";
import type { FileReference } from "./file-reference.ts";
import { loadLocks, loadNode, type LoadedNode } from "./handle-operation.ts";
import { entriesChanged } from "./new-node.ts";

/** Closes handles of SMB clients, for `smb/handle-closer.ts`. */

/** What a close did to the file: for the attributes in the CLOSE response, and for the change
 *  notification of other clients. */
export interface CloseResult {
  /** The file when the handle closed; undefined if it was deleted before. */
  readonly node: NodeRecord | undefined;
  /** Whether the close deleted the file, because it was delete-pending and the handle was the
   *  last. */
  readonly isDeleted: boolean;
  /** Whether the file will be deleted when its other handles close. */
  readonly isPending: boolean;
}

/** The input of `closeOperation`: handles to close, all of one file. */
interface CloseRequest {
  readonly reference: FileReference;
  readonly handles: ReadonlySet<bigint>;
}

/** What `closeOperation` loads: the file of the handles, and its lock state. */
interface LoadedHandles {
  /** Undefined if the file or its share was deleted. */
  readonly file: LoadedNode | undefined;
  /** Undefined for a file of a share snapshot. */
  readonly locks: LockState | undefined;
  /** Whether this is a directory with entries, which is not deleted even if it is
   *  delete-pending. */
  readonly hasChildren: boolean;
}

interface ReadForClose {
  /** The parent directory, if the close may delete the file. */
  readonly parent: NodeRecord | undefined;
  /** The handles whose close is an event, because content was changed through them. */
  readonly changed: readonly bigint[];
}

/** Closes handles of one file with their byte-range locks and caching grants. Deletes a
 *  delete-pending file with its last handle. All handles are closed in one transaction, because
 *  each close changes the same lock record. */
const closeOperation: SmbOperation<CloseRequest, LoadedHandles, ReadForClose, CloseResult> = {
  name: "close",
  effect: "writes",
  // The close of a delete-pending file deletes the file, which frees space.
  mayUseReserve: true,
  event: "decided",
  share: ({ reference }) => reference.share,
  load: async (view, { reference }) => {
    const file = await loadNode(view, reference);
    if (reference.snapshot !== undefined) return { file, locks: undefined, hasChildren: false };
    const locks = await loadLocks(view, reference.share.id, reference.file);
    return { file, locks, hasChildren: await hasEntries(view, file) };
  },
  reads: async (view, { request: { handles, reference }, loaded: { file, locks } }) => {
    const mayDelete =
      locks !== undefined && decideClose(locks, handles, { mayDelete: true }).deletesFile;
    const { share } = reference;
    const hasLog = locks !== undefined && (await writesEvents(view, share));
    const key = { share: share.id, file: reference.file };
    return {
      parent: file && mayDelete ? await nodeById(view, file.share.id, file.node.parent) : undefined,
      changed: hasLog ? await changedHandles(view, key, handles) : [],
    };
  },
  decide: ({ request, loaded, now, readResult: { parent, changed } }) => {
    const { reference, handles } = request;
    const { file, locks, hasChildren: isFull } = loaded;
    const { node } = file ?? {};
    if (locks === undefined) return { value: { node, isDeleted: false, isPending: false } };
    const { effects, isDeleted, isPending, changes } = closeHandles(
      { share: reference.share.id, file: reference.file },
      { share: file?.share, node, locks, handles, changed, hasChildren: isFull, now },
    );
    const touches = isDeleted && file !== undefined && parent !== undefined;
    const touched = touches ? entriesChanged(file.share, parent, now) : [];
    return { value: { node, isDeleted, isPending }, effects: [...effects, ...touched], changes };
  },
};

async function hasEntries(view: RecordView, file: LoadedNode | undefined): Promise<boolean> {
  if (file?.node.kind !== "directory") return false;
  return hasChildren(view, file.share.id, file.node.id);
}

export async function closeFile(
  runtime: Runtime,
  reference: FileReference,
  handles: readonly bigint[],
): Promise<CloseResult> {
  const request = { reference, handles: new Set(handles) };
  const outcome = await executeAtOnce(runtime, closeOperation, request);
  if (outcome.kind === "fault") throw new Error("closing a handle cannot fail");
  return outcome.value;
}
