import type { RecordView } from "../../operation/view.ts";
import { nextETag } from "../../protocol/conditions.ts";
import { hasChildren } from "../directory/directories.ts";
import { openBelow, type OpenedFile } from "../directory/children.ts";
import {
  checkAccess,
  checkDataAccess,
  displaceAccess,
  handleAccess,
} from "../locks/file-access.ts";
import { noLocks, type LockState } from "../locks/lock-state.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { displaceFile } from "../rename/displace.ts";
import { moveNode } from "../rename/move.ts";
import { refuseRename, type RenameRefusal } from "../rename/rename-rules.ts";
import { nodeById, resolvePath, type ResolvedPath } from "../share-tree.ts";
import { type FileDecisionContext, callOf } from "./execute-operation.ts";
import type { FaultDecision, FileFault, FileReply } from "./file-result.ts";
import type { WaitDecision } from "../../operation/reply.ts";
import { handleOperation, loadLocks, putLocks, stopFor, waitFor } from "./handle-operation.ts";
import type { HandleRequest, LoadedFile } from "./handle-operation.ts";
import { removeNode } from "../shared/node-replies.ts";
import { entriesChanged } from "./new-node.ts";

/** Renames by SMB clients (SET_INFO). The rules that REST shares are in `file/rename/`. */

/** The input of `renameOperation`: a rename through a handle, to a path in the same share. */
interface FileRenameRequest extends HandleRequest {
  readonly path: readonly string[];
  /** Whether an existing file with the new name is replaced. */
  readonly replaces: boolean;
}

/** The record before and after a rename, for the clients that watch the directories. */
export interface RenameResult {
  readonly before: NodeRecord;
  readonly after: NodeRecord;
}

/** What the decision of a rename reads besides the file: what exists at the new path, and the lock
 *  states that it depends on. */
export interface RenameDestination {
  /** The new path. `target` is undefined if no file has it, or only the renamed file itself. */
  readonly resolved: ResolvedPath & { readonly parent: NodeRecord };
  readonly parentLocks: LockState;
  readonly targetLocks: LockState;
  /** Whether a directory would replace a directory that is not empty. */
  readonly targetHasChildren: boolean;
  /** If the renamed file is a directory: the open files below it. */
  readonly openBelow: readonly OpenedFile[];
  /** The directory that the file is moved out of; undefined if the file stays in its directory. */
  readonly previousParent: NodeRecord | undefined;
}

type Context = FileDecisionContext<FileRenameRequest, LoadedFile, RenameDestination | undefined>;
type Stop = FaultDecision | WaitDecision;

/** Renames a file or directory. Only the key of its own record changes, because handles and
 *  children refer to it by its id. */
export const renameOperation = handleOperation<
  FileRenameRequest,
  RenameResult,
  RenameDestination | undefined
>({
  name: "rename",
  effect: "writes",
  onSnapshot: "read-only-snapshot",
  handle: "must-be-open",
  // `refuseRename` checks the leases of source and target.
  lease: "checked-at-open",
  fileAccess: "in-decision",
  event: "SmbRename",
  validate: ({ request: { path }, loaded: { locks } }) =>
    path.length === 0 || locks.deletePending ? "access-denied" : undefined,
  reads: (view, { request, loaded }) => readDestination(view, loaded, request.path),
  decide: (context) => {
    const { readResult: target } = context;
    if (target === undefined) return { fault: "path-not-found" };
    return (
      checkRules(context, target) ??
      checkSource(context) ??
      checkTarget(context, target) ??
      move(context, target)
    );
  },
});

export const renameFile = callOf(renameOperation);

/** Reads what the decision depends on at the new path. Undefined if the directory of that path does
 *  not exist. */
async function readDestination(
  view: RecordView,
  { share: { id: share }, node }: LoadedFile,
  path: readonly string[],
): Promise<RenameDestination | undefined> {
  const { parent, target: found, ...resolved } = await resolvePath(view, { share }, path);
  if (parent === undefined) return undefined;
  const target = found?.id === node.id ? undefined : found;
  const isDirectory = node.kind === "directory" && node.id !== rootId;
  const replacesDirectory = isDirectory && target?.kind === "directory";
  return {
    resolved: { ...resolved, parent, target },
    openBelow: isDirectory ? await openBelow(view, share, node.id) : [],
    parentLocks: await loadLocks(view, share, parent.id),
    targetLocks: target === undefined ? noLocks : await loadLocks(view, share, target.id),
    targetHasChildren: replacesDirectory && (await hasChildren(view, share, target.id)),
    previousParent:
      node.parent === parent.id ? undefined : await nodeById(view, share, node.parent),
  };
}

/** Checks the rules that REST shares (`refuseRename`), and maps a refusal to the fault of SMB. */
function checkRules(
  { request: { replaces }, loaded: { share, node }, now }: Context,
  target: RenameDestination,
): Stop | undefined {
  const refusal = refuseRename({
    source: node,
    openBelow: target.openBelow,
    trail: target.resolved.trail,
    parentLocks: target.parentLocks,
    target: target.resolved.target,
    replaces,
    ignoresReadOnly: false,
    sourceLease: undefined,
    targetLease: undefined,
    now,
  });
  if (refusal === undefined) return undefined;
  if (refusal.why === "cached-below") {
    const effects = refusal.changedLocks.map(({ id, state }) => putLocks(share.id, id, state));
    return waitFor({ share: share.id, id: refusal.file, now }, effects);
  }
  // The Linux client maps `directory-not-empty` to ENOTEMPTY, as POSIX requires, but
  // `access-denied` to EACCES.
  const isNotEmpty = refusal.why === "directory-in-place" && target.targetHasChildren;
  return { fault: isNotEmpty ? "directory-not-empty" : renameFaults[refusal.why] };
}

const renameFaults: Readonly<Record<Exclude<RenameRefusal["why"], "cached-below">, FileFault>> = {
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

/** Waits until other clients have closed the handles of the source that they keep only for
 *  caching. */
function checkSource({ request, loaded, now }: Context): Stop | undefined {
  const { share, node, locks } = loaded;
  const check = checkDataAccess(locks, handleAccess.remove, { now, handle: request.handle });
  return check.kind === "pass" ? undefined : stopFor(check, { share: share.id, id: node.id, now });
}

/** Rejects replacing a file that is delete-pending, or that a handle keeps open without sharing
 *  deletion. Waits first for clients to close handles that they keep only for caching. */
function checkTarget(
  { loaded: { share }, now }: Context,
  { resolved: { target }, targetLocks }: RenameDestination,
): Stop | undefined {
  if (target === undefined) return undefined;
  const check = checkAccess(targetLocks, displaceAccess, { now });
  if (check.kind === "pass") return undefined;
  if (check.kind === "fault") return { fault: "access-denied" };
  return stopFor(check, { share: share.id, id: target.id, now });
}

function move(
  { request: { path }, loaded, now }: Context,
  { resolved: { parent, target, key: to }, targetLocks: held, previousParent }: RenameDestination,
): FileReply<RenameResult> {
  const { share, node, key: from } = loaded;
  const newETag = nextETag(now, node.etag);
  const next: NodeRecord = {
    ...node,
    name: path.at(-1) ?? "",
    parent: parent.id,
    etag: newETag,
    change: newETag,
    since: share.epoch,
  };
  const replaced = target && { share, key: to, node: target, held };
  const isOpen = held.opens.length > 0;
  const replacing = isOpen ? displaceFile : removeNode;
  const effects = [
    ...(replaced === undefined ? [] : replacing(replaced, now)),
    ...moveNode({ share, from, node, to, replaced: undefined, next }),
    ...entriesChanged(share, parent, now),
    ...(previousParent === undefined ? [] : entriesChanged(share, previousParent, now)),
  ];
  const changes = [{ node: next, source: node }];
  return { value: { before: node, after: next }, effects, changes };
}
