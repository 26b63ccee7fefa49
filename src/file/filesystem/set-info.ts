import type { Ticks } from "../../base/ticks.ts";
import { nextETag } from "../../protocol/conditions.ts";
import { hasChildren } from "../directory/directories.ts";
import { checkDataAccess, handleAccess } from "../locks/file-access.ts";
import { deleteFaultOrder, refuseDelete, type DeleteFault } from "../node/delete-file.ts";
import { displacedParent, type NodeRecord } from "../records.ts";
import { directoryAttribute, storePermission } from "../shared/smb-properties.ts";
import { callOf, callAtOnce } from "./execute-operation.ts";
import type { FileFault } from "./file-result.ts";
import { handleOperation, putLocks, stopFor } from "./handle-operation.ts";
import type { HandleRequest } from "./handle-operation.ts";
import { sddlOf } from "./info.ts";
import { changeNode } from "./new-node.ts";

/** The operations of SET_INFO: attributes, times, security descriptors and the mark for deletion.
 *  Names and lengths are in `rename.ts` and `write.ts`. */

/** The times and attributes that SET_INFO sets. Undefined leaves a value unchanged. */
export interface BasicInfoChange {
  readonly created?: Ticks | undefined;
  readonly lastAccess?: Ticks | undefined;
  readonly lastWrite?: Ticks | undefined;
  readonly change?: Ticks | undefined;
  /** Leaves the change time as it is, because the client has set it through this handle before. */
  readonly keepsChangeTime?: boolean;
  readonly attributes?: number | undefined;
}

/** What the declarations of changes of attributes and permissions have in common. Share modes do
 *  not apply to them, but an Azure lease of the file excludes them. */
const changesRecord = {
  effect: "writes",
  onSnapshot: "read-only-snapshot",
  handle: "unchecked",
  lease: "excludes",
  fileAccess: "none",
  event: "SmbSetInfo",
} as const;

/** Sets times and attributes. Returns the record before the change, for change notification. */
export const setBasicOperation = handleOperation<HandleRequest & BasicInfoChange, NodeRecord>({
  ...changesRecord,
  name: "set basic information",
  decide: ({ request, loaded, now }) => {
    const { node } = loaded;
    const newETag = nextETag(now, node.etag);
    const kind = node.kind === "directory" ? directoryAttribute : 0;
    const { attributes } = request;
    const next = {
      ...node,
      etag: newETag,
      created: request.created ?? node.created,
      lastAccess: request.lastAccess ?? node.lastAccess,
      lastWrite: request.lastWrite ?? node.lastWrite,
      change: request.change ?? (request.keepsChangeTime === true ? node.change : newETag),
      attributes: attributes === undefined ? node.attributes : attributes | kind,
    };
    return { value: node, effects: changeNode(loaded, next), changes: [{ node: next }] };
  },
});

export const setBasicInfo = callAtOnce(setBasicOperation);

interface SetSecurityRequest extends HandleRequest {
  /** Computes the new security descriptor from the current one; both in SDDL. */
  readonly revise: (present: string) => string;
}

/** Sets the security descriptor. Returns the record before the change, for change notification. */
const setSecurityOperation = handleOperation<SetSecurityRequest, NodeRecord, string>({
  ...changesRecord,
  name: "set security",
  reads: (view, { loaded }) => sddlOf(view, loaded),
  decide: ({ request, loaded, now, readResult: present }) => {
    const { share, node } = loaded;
    const { key, effects } = storePermission(share.id, request.revise(present));
    const newETag = nextETag(now, node.etag);
    const next = { ...node, etag: newETag, change: newETag, permissionKey: key };
    const changed = [...effects, ...changeNode(loaded, next)];
    return { value: node, effects: changed, changes: [{ node: next }] };
  },
});

export const setSecurity = callAtOnce(setSecurityOperation);

interface DeletePendingRequest extends HandleRequest {
  readonly isPending: boolean;
}

/** Sets or removes the delete-pending mark: the file is deleted with its last handle. */
export const deletePendingOperation = handleOperation<DeletePendingRequest, undefined, boolean>({
  name: "set delete-pending",
  effect: "writes",
  onSnapshot: "file-closed",
  handle: "must-be-open",
  lease: "checked-at-open",
  fileAccess: "in-decision",
  // The event log gets an entry when a close deletes the file, not when the mark is set.
  event: "none",
  reads: async (view, { request: { isPending }, loaded: { share, node } }) =>
    isPending && node.kind === "directory" && (await hasChildren(view, share.id, node.id)),
  decide: ({ request, loaded: { share, node, locks }, now, readResult }) => {
    const mark = (deletePending: boolean, state = locks) =>
      putLocks(share.id, node.id, { ...state, deletePending });
    // A file that a rename has displaced has no name, so it stays delete-pending.
    const keepsNothing = node.parent === displacedParent && !request.isPending;
    if (keepsNothing) return { fault: "access-denied" };
    if (!request.isPending) return { value: undefined, effects: [mark(false)] };
    const fault = refuseDelete({ node, hasChildren: readResult }, deleteFaultOrder.overSmb);
    if (fault !== undefined) return { fault: deleteFaults[fault] };
    const access = checkDataAccess(locks, handleAccess.remove, { now, handle: request.handle });
    if (access.kind !== "pass") return stopFor(access, { share: share.id, id: node.id, now });
    return { value: undefined, effects: [mark(true, access.state)] };
  },
});

const deleteFaults: Readonly<Record<DeleteFault, FileFault>> = {
  root: "cannot-delete",
  "read-only": "cannot-delete",
  "not-empty": "directory-not-empty",
};

export const setDeletePending = callOf(deletePendingOperation);
