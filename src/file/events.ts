import { accounts } from "../account/account-record.ts";
import { hasEventLog, logEvent, type EventRecord, type EventType } from "../account/event-log.ts";
import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";
import { plannedLength } from "../content/content-ref.ts";
import { put, remove, type Effect, type LogAppend } from "../operation/effects.ts";
import type { Operation } from "../operation/operation.ts";
import type { DecidedChange } from "../operation/service.ts";
import type { RecordView } from "../operation/view.ts";
import type { FileAddress } from "./file-address.ts";
import { openChanges, shareNames, type NodeRecord } from "./records.ts";
import type { NodeScope } from "./resources.ts";
import { pathOf } from "./share-tree.ts";

/** The events of changed files, which the transactions of REST and SMB write into the event log of
 *  an account (if it has a change feed or subscriptions). */

/** The operations whose changes are events, and the kind of change. Azure has no events of the File
 *  service: the names follow those of blobs, and `Smb…` are changes of SMB clients. */
const changeByApi = {
  CreateFile: "created",
  CreateDirectory: "created",
  CreateHardLink: "created",
  CreateSymbolicLink: "created",
  CopyFile: "created",
  PutRange: "written",
  ClearRange: "written",
  PutRangeFromURL: "written",
  SetFileProperties: "changed",
  SetFileMetadata: "changed",
  SetDirectoryProperties: "changed",
  SetDirectoryMetadata: "changed",
  AbortCopyFile: "changed",
  RenameFile: "renamed",
  RenameDirectory: "renamed",
  DeleteFile: "deleted",
  DeleteDirectory: "deleted",
  SmbCreate: "created",
  // All writes through one handle, when it is closed.
  SmbWrite: "written",
  SmbSetInfo: "changed",
  SmbRename: "renamed",
  SmbDelete: "deleted",
} as const;

type Change = (typeof changeByApi)[keyof typeof changeByApi];

const fileTypes: Readonly<Record<Change, EventType>> = {
  created: "FileCreated",
  written: "FileContentUpdated",
  changed: "FilePropertiesUpdated",
  renamed: "FileRenamed",
  deleted: "FileDeleted",
};

const directoryTypes: Readonly<Record<Change, EventType>> = {
  created: "FileDirectoryCreated",
  written: "FileDirectoryPropertiesUpdated",
  changed: "FileDirectoryPropertiesUpdated",
  renamed: "FileDirectoryRenamed",
  deleted: "FileDirectoryDeleted",
};

type Api = keyof typeof changeByApi;

/** The event log entry of an operation on a file, over REST and over SMB. `none`: its changes are
 *  no events. `decided`: its decision names the event. `at-close`: the close of the handle is the
 *  event (`openChanges`). */
export type FileApi = Api | "none" | "decided" | "at-close";

/** A change of a file or directory that is an event. */
export interface NodeChange {
  /** Name of the change in the event log; undefined if the operation declares it (`event`). */
  readonly api?: Api;
  /** The record after the change; of a deletion, the one before it. */
  readonly node: NodeRecord;
  /** The record before a rename; undefined for any other change. */
  readonly source?: NodeRecord;
  /** Length of the content, if the record does not refer to it yet. */
  readonly contentLength?: number | undefined;
}

/** What the events of one request have in common: the share, the request, the time. */
interface ChangeContext extends Pick<
  EventRecord,
  "requestId" | "clientRequestId" | "endpoint" | "etag"
> {
  readonly account: bigint;
  readonly share: bigint;
  readonly shareName: string;
  /** The event that the operation declares; a `NodeChange` may have another one. */
  readonly event: FileApi;
  readonly now: Ticks;
}

/** The events of changes, which the caller writes in the transaction that makes them. Callers check
 *  first that the account has an event log. Files without a name, which a rename has displaced,
 *  have no events. */
export async function nodeEvents(
  view: RecordView,
  { account, share, shareName, event, now, ...request }: ChangeContext,
  changes: readonly NodeChange[],
): Promise<readonly LogAppend[]> {
  const appends: LogAppend[] = [];
  for (const { api = event, node, source, contentLength } of changes) {
    if (!(api in changeByApi)) throw new Error(`a change of a file has no name: ${api}`);
    const path = await pathOf(view, share, node);
    const before = source && (await pathOf(view, share, source));
    if (path === undefined) continue;
    const isDirectory = node.kind === "directory";
    const types = isDirectory ? directoryTypes : fileTypes;
    const file = {
      contentType: node.headers?.contentType,
      contentLength: contentLength ?? node.content?.length ?? 0,
    };
    const record: EventRecord = {
      type: types[changeByApi[api as Api]],
      api,
      time: now,
      container: shareName,
      path: path.join("/"),
      etag: node.etag,
      ...(isDirectory ? {} : file),
      ...request,
      ...(before && { source: { container: shareName, path: before.join("/") } }),
    };
    appends.push(logEvent(account, record));
  }
  return appends;
}

/** The events of a REST operation, from its declaration and its reply. The pipeline writes them in
 *  the transaction of the operation. */
export function restEvents(
  change: DecidedChange<FileAddress>,
  view: RecordView,
): Awaitable<readonly Effect[]> {
  const { operation, reply, before, address, scope, now, newETag } = change;
  const { event } = operation as Operation & { readonly event?: FileApi };
  if (event === undefined || event === "none") return [];
  const { account, share, hardLink } = scope as NodeScope;
  const after = reply.put as NodeRecord | undefined;
  const { effects = [] } = reply;
  const isChanged = after !== undefined || reply.remove === true || effects.length > 0;
  // A copy from another server is an event when it completes (`copy/transfer.ts`).
  if (!isChanged || after?.copy?.status === "pending") return [];
  const node = after ?? (before as NodeRecord | undefined);
  const decided = reply.event as readonly NodeChange[] | undefined;
  const { content } = reply;
  const contentLength = content && plannedLength(content);
  // The event of a change through a hard link has the name of the link.
  const link = hardLink?.node;
  const named = node && link ? { ...node, parent: link.parent, name: link.name } : node;
  const changes = decided ?? (named === undefined ? [] : [{ node: named, contentLength }]);
  const { requestId, clientRequestId, endpoint } = change;
  const context = {
    account: account.id,
    share: share.id,
    shareName: address.share,
    event,
    now,
    requestId,
    clientRequestId,
    endpoint,
    ...(operation.etag === "renew" && { etag: newETag }),
  };
  return nodeEvents(view, context, changes);
}

/** The events of changes without a request, as completed copies and the close of handles of ended
 *  processes. None if the share was deleted, or if its account has no event log. */
export async function serverNodeEvents(
  view: RecordView,
  share: bigint,
  changes: readonly NodeChange[],
): Promise<readonly LogAppend[]> {
  if (changes.length === 0) return [];
  for await (const [found] of view.scan(shareNames, { ...shareNames.range([share]), limit: 1 })) {
    if (found === undefined) break;
    const { account, name: shareName } = found.record;
    if (!(await hasEventLog(view, account))) break;
    const context = { account, share, shareName, event: "decided", now: view.now } as const;
    return nodeEvents(view, context, changes);
  }
  return [];
}

/** The account of an SMB request: its name, and its id, which a reset of the account changes. */
interface NamedAccount {
  readonly accountName: string;
  readonly account: bigint;
}

/** Whether the account of an SMB request has an event log. Read in the transaction of the request,
 *  so that a log that is switched on meanwhile misses no change. */
export function writesEvents(
  view: RecordView,
  { accountName, account }: NamedAccount,
): Awaitable<boolean> {
  return mapAwaitable(
    view.get(accounts, accountName),
    (record) => record?.id === account && record.events !== undefined,
  );
}

interface HandleOfFile {
  readonly share: bigint;
  readonly file: bigint;
  readonly handle: bigint;
}

/** The effect that marks a handle when content is changed through it, so that its close is an
 *  event; none if the handle is marked already. */
export function markOpenChange(view: RecordView, key: HandleOfFile): Awaitable<readonly Effect[]> {
  return mapAwaitable(view.get(openChanges, key), (found) =>
    found === undefined ? [put(openChanges, key, {})] : [],
  );
}

/** Returns those of the handles that `markOpenChange` has marked: their close is an event. */
export async function changedHandles(
  view: RecordView,
  file: Omit<HandleOfFile, "handle">,
  handles: Iterable<bigint>,
): Promise<readonly bigint[]> {
  const changed: bigint[] = [];
  for (const handle of handles) {
    if ((await view.get(openChanges, { ...file, handle })) !== undefined) changed.push(handle);
  }
  return changed;
}

/** The effects that remove the marks of handles that are being closed (`markOpenChange`). */
export function unmarkOpenChanges(
  file: Omit<HandleOfFile, "handle">,
  handles: readonly bigint[],
): readonly Effect[] {
  return handles.map((handle) => remove(openChanges, { ...file, handle }));
}
