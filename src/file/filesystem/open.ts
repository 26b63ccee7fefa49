import { noLocks, type Open, type LockState } from "../locks/lock-state.ts";
import type { CachingRequest } from "../locks/caching.ts";
import type { ShareAddress } from "./file-reference.ts";
import { empty } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";
import type { Runtime } from "../../operation/work.ts";
import { Right } from "../locks/access.ts";
import { decideOpen } from "../locks/opens.ts";
import { isLeasedAgainst } from "../node/set-file-properties.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { isReadOnly } from "../shared/smb-properties.ts";
import { readParentSddl } from "../shared/inherited-permission.ts";
import { resolvePath, type ResolvedPath } from "../share-tree.ts";
import {
  executeOperation,
  type FileDecisionContext,
  type SmbOperation,
} from "./execute-operation.ts";
import type { FileDecision, FileFault, FileOutcome } from "./file-result.ts";
import { loadLocks, loadShare, putLocks, waitFor } from "./handle-operation.ts";
import { newNode, replacedNode, addEntry, changeNode } from "./new-node.ts";

/** Opens and creates files for SMB CREATE (`openFile`). */

/** What each CreateDisposition does with a name that exists (`present`) and with one that does not
 *  (`missing`; [MS-FSA] 2.1.5.1). */
const dispositions = {
  supersede: { present: "replace", missing: "create" },
  open: { present: "open", missing: "fail" },
  create: { present: "fail", missing: "create" },
  openIf: { present: "open", missing: "create" },
  overwrite: { present: "replace", missing: "fail" },
  overwriteIf: { present: "replace", missing: "create" },
} as const;

export type Disposition = keyof typeof dispositions;

/** A CREATE request after decoding: generic rights are resolved, the path is split. */
export interface FileOpenRequest {
  readonly share: ShareAddress;
  readonly path: readonly string[];
  readonly disposition: Disposition;
  /** Which kind the client requires the target to be; undefined if it may be either. */
  readonly wants: "file" | "directory" | undefined;
  /** MAXIMUM_ALLOWED: all rights that the file allows, at least `open.access`. */
  readonly wantsMaximum: boolean;
  readonly attributes: number;
  /** Security descriptor for a new or replaced file; undefined to inherit or keep one. */
  readonly sddl: string | undefined;
  readonly open: Omit<Open, "openedAt">;
  readonly cache: CachingRequest | undefined;
  /** Id of the file that already uses the SMB lease key of `cache`. Opening another file with this
   *  key is a fault. Undefined if the key is new. */
  readonly cacheFile?: bigint | undefined;
  /** The epoch of the addressed share snapshot (its place in the order of snapshots); undefined for
   *  the current files. */
  readonly epoch?: number | undefined;
}

/** CreateAction in the CREATE response: what the open did ([MS-SMB2] 2.2.14). */
export const OpenAction = { superseded: 0, opened: 1, created: 2, overwritten: 3 } as const;

/** A file that was opened, with the entry of the handle in its lock state. */
export interface OpenResult {
  readonly node: NodeRecord;
  readonly open: Open;
  readonly locks: LockState;
  /** CreateAction of the response (`OpenAction`). */
  readonly action: number;
}

/** Access mask with every right of a file (FILE_ALL_ACCESS). */
const fullAccess = 0x001f_01ff;
/** An open that overwrites a file must request these attributes if the file has them, as on
 *  Windows. */
const hiddenOrSystem = 0x6;

/** What `openOperation` loads: the path of the request. Its directory exists; the file may not. */
interface LoadedPath {
  readonly share: ShareRecord;
  readonly resolved: PathWithParent;
}

type PathWithParent = ResolvedPath & { readonly parent: NodeRecord };

function hasParent(path: ResolvedPath): path is PathWithParent {
  return path.parent !== undefined;
}

interface OpenState {
  /** Lock state of the file if it exists, else of the directory in which it would be created. */
  readonly locks: LockState;
  /** Security descriptor of the directory (`readParentSddl`), which a new file inherits. */
  readonly inherited: string | undefined;
}

type Context = FileDecisionContext<FileOpenRequest, LoadedPath, OpenState>;

/** Opens or creates the file of a path, and adds the handle to its lock state, after checking share
 *  modes, leases and caching grants. */
export const openOperation: SmbOperation<FileOpenRequest, LoadedPath, OpenState, OpenResult> = {
  name: "open",
  effect: "writes",
  event: "decided",
  share: ({ share }) => share,
  load: async (view, { share: address, path, epoch }) => {
    const share = await loadShare(view, address);
    if (share === undefined) return { fault: "share-gone" };
    const resolved = await resolvePath(view, { share: share.id, epoch }, path);
    return hasParent(resolved) ? { share, resolved } : { fault: "path-not-found" };
  },
  check: ({ request: { cacheFile }, loaded: { resolved } }) =>
    cacheFile !== undefined && cacheFile !== resolved.target?.id
      ? { fault: "invalid-parameter" }
      : [],
  reads: async (view, { request, loaded: { share, resolved } }) => {
    const { target, parent } = resolved;
    if (target !== undefined) {
      return { locks: await loadLocks(view, share.id, target.id), inherited: undefined };
    }
    if (!mayCreate(request)) return { locks: noLocks, inherited: undefined };
    const locks = await loadLocks(view, share.id, parent.id);
    return { locks, inherited: await readParentSddl(view, share, parent) };
  },
  decide: (context) => {
    const { target } = context.loaded.resolved;
    return target === undefined ? create(context) : openExisting(context, target);
  },
};

/** Opens a file of a share snapshot. It cannot change, so its handles need no lock state. */
export const openSnapshotOperation: SmbOperation<
  FileOpenRequest,
  LoadedPath,
  undefined,
  OpenResult
> = {
  name: "open in snapshot",
  effect: "reads",
  event: "none",
  load: openOperation.load,
  decide: ({ request, loaded: { resolved }, now }) => {
    const { target } = resolved;
    const { present, missing } = dispositions[request.disposition];
    if (target === undefined) {
      return { fault: missing === "create" ? "read-only-snapshot" : "name-not-found" };
    }
    if (present === "replace") return { fault: "read-only-snapshot" };
    const fault = refuseExisting(request, target);
    if (fault !== undefined) return { fault };
    const writing = Right.writeData | Right.appendData | Right.delete;
    if ((request.open.access & writing) !== 0) return { fault: "access-denied" };
    const access = grantedAccess(request, target) & ~writing;
    const open: Open = { ...request.open, access, openedAt: now };
    return { value: { node: target, open, locks: noLocks, action: OpenAction.opened } };
  },
};

export function openFile(
  runtime: Runtime,
  request: FileOpenRequest,
): Promise<FileOutcome<OpenResult>> {
  return request.epoch === undefined
    ? executeOperation(runtime, openOperation, request)
    : executeOperation(runtime, openSnapshotOperation, request);
}

function mayCreate({ disposition }: FileOpenRequest): boolean {
  return dispositions[disposition].missing === "create";
}

function create(context: Context): FileDecision<OpenResult> {
  const { request, loaded, now, newId, readResult } = context;
  const { share, resolved } = loaded;
  const { key, parent } = resolved;
  if (!mayCreate(request)) return { fault: "name-not-found" };
  if (readResult.locks.deletePending) return { fault: "delete-pending" };
  if (isReadOnly(request) && request.open.deleteOnClose) return { fault: "cannot-delete" };
  const { inherited } = readResult;
  const made = newNode({ share, parent, inherited, request, now, id: newId() });
  const { node } = made;
  const open: Open = { ...request.open, access: grantedAccess(request, undefined), openedAt: now };
  const decision = decideOpen(noLocks, { open, overwrites: false, cache: request.cache, now });
  if (decision.kind !== "granted") throw new Error("a new file has no other handles");
  const content = node.kind === "file" ? empty(0) : undefined;
  return {
    value: { node, open, locks: decision.state, action: OpenAction.created },
    changes: [{ api: "SmbCreate", node }],
    effects: [
      ...addEntry({ share, key, node }, { parent, now, content }),
      ...made.effects,
      putLocks(share.id, node.id, decision.state),
    ],
  };
}

function openExisting(context: Context, node: NodeRecord): FileDecision<OpenResult> {
  const { request, loaded, now, readResult } = context;
  const { share, resolved } = loaded;
  const { locks } = readResult;
  const fault = locks.deletePending ? "delete-pending" : refuseExisting(request, node);
  if (fault !== undefined) return { fault };
  const replaces = dispositions[request.disposition].present === "replace";
  const access = grantedAccess(request, node);
  const open: Open = { ...request.open, access, openedAt: now };
  // An open that replaces the bytes is checked as a write, even if it requests no write access.
  const checked = replaces ? { ...open, access: access | Right.writeData } : open;
  if (isLeasedAgainst(node, checked.access, now)) return { fault: "sharing-violation" };
  const decision = decideOpen(locks, {
    open: checked,
    overwrites: replaces,
    cache: request.cache,
    now,
  });
  if (decision.kind === "refused") return { fault: decision.refusal };
  if (decision.kind === "wait") {
    // Stored only if a client must be notified: each write of the lock record wakes the operations
    // that wait for it (`stopFor`).
    const isChanged = decision.keysToNotify.length > 0;
    const effects = isChanged ? [putLocks(share.id, node.id, decision.state)] : noEffects;
    return waitFor({ share: share.id, id: node.id, now }, effects);
  }
  const state = replaces ? withRequestedAccess(decision.state, open) : decision.state;
  const file = { share, key: resolved.key, node };
  const next = replaces ? replacedNode(file, request, now) : { node, effects: noEffects };
  const changes = replaces ? changeNode(file, next.node, empty(0)) : noEffects;
  return {
    value: { node: next.node, open, locks: state, action: actionOf(request, replaces) },
    ...(replaces && { openChange: { file: node.id, handle: open.id } }),
    effects: [...changes, ...next.effects, putLocks(share.id, node.id, state)],
  };
}

const noEffects: readonly Effect[] = [];

/** The lock state with the handle as it was requested. Replacing the content counted as a write
 *  while conflicts were checked; the handle itself need not have that right. */
function withRequestedAccess(state: LockState, open: Open): LockState {
  return { ...state, opens: state.opens.map((each) => (each.id === open.id ? open : each)) };
}

function actionOf({ disposition }: FileOpenRequest, replaces: boolean): number {
  if (!replaces) return OpenAction.opened;
  return disposition === "supersede" ? OpenAction.superseded : OpenAction.overwritten;
}

/** The fault of opening an existing file that follows from the request and the record alone (kind,
 *  disposition, attributes), not from other handles. Undefined if there is none. */
function refuseExisting(
  request: Pick<FileOpenRequest, "disposition" | "wants" | "attributes"> & {
    readonly open: Pick<Open, "access" | "deleteOnClose">;
  },
  node: NodeRecord,
): FileFault | undefined {
  const isDirectory = node.kind === "directory";
  const replaces = dispositions[request.disposition].present === "replace";
  if (dispositions[request.disposition].present === "fail") return "name-collision";
  if (request.wants === "directory" && !isDirectory) return "not-directory";
  if (request.wants === "file" && isDirectory) return "is-directory";
  if (replaces && isDirectory) return "name-collision";
  if (isReadOnly(node) && request.open.deleteOnClose) return "cannot-delete";
  if (isReadOnly(node) && !isDirectory) {
    const writes = (request.open.access & (Right.writeData | Right.appendData)) !== 0;
    if (writes || replaces) return "access-denied";
  }
  const hidden = node.attributes & hiddenOrSystem;
  return replaces && (hidden & ~request.attributes) !== 0 ? "access-denied" : undefined;
}

/** The rights that an open with MAXIMUM_ALLOWED gets on a file: all, but no writing of a read-only
 *  one. Permissions do not limit them, because this server does not enforce them. */
export function maximalAccess(node: NodeRecord | undefined): number {
  const excludesWrites = node?.kind === "file" && isReadOnly(node);
  return excludesWrites ? fullAccess & ~(Right.writeData | Right.appendData) : fullAccess;
}

function grantedAccess(request: FileOpenRequest, node: NodeRecord | undefined): number {
  const { open, wantsMaximum } = request;
  return wantsMaximum ? open.access | maximalAccess(node) : open.access;
}
