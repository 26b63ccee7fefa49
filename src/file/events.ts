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

/** The operations that are events, and what they do. Azure has no events of the File service. The
 *  names of REST operations follow those of blobs; `Smb…` are changes of SMB clients. */
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

/** What an operation on a file counts as in the event log, over REST and over SMB. `none`: its
 *  changes are no events. `decided`: the decision says it. `at-close`: the close of the handle is
 *  the event (`openChanges`). */
export type FileApi = Api | "none" | "decided" | "at-close";

/** A change of a file or directory that is an event. */
export interface NodeChange {
  /** What the change counts as; undefined if it is what the operation declares (`event`). */
  readonly api?: Api;
  /** The record after the change; of a deletion, the one before it. */
  readonly node: NodeRecord;
  /** The record before a rename; undefined for any other change. */
  readonly source?: NodeRecord;
  /** Length of the content, if the record does not refer to it yet. */
  readonly contentLength?: number | undefined;
}

/** The share in which files change, and the request that changes the files. */
interface ChangeContext extends Pick<
  EventRecord,
  "requestId" | "clientRequestId" | "endpoint" | "etag"
> {
  readonly account: bigint;
  readonly share: bigint;
  readonly shareName: string;
  /** The operation name that the events contain. */
  readonly event: FileApi;
  readonly now: Ticks;
}

/** The events of changes, to be written in their transaction. The account has an event log. Files
 *  without a name, which a rename has displaced, have no events. */
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

/** The events of a REST operation, from its declaration and its reply. They are written in its
 *  transaction. */
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
  // An asynchronous copy is an event when it completes.
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

/** The events of changes that the server makes itself: none if the share was deleted, or if its
 *  account has no event log. */
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

/** The name and id of the account of an SMB request. */
interface NamedAccount {
  readonly accountName: string;
  readonly account: bigint;
}

/** Whether the account of an SMB request has an event log. Read in the transaction of the request,
 *  as for REST. */
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

/** The effect that makes the close of a handle an event, because content was changed through it;
 *  none after the first change. */
export function markOpenChange(view: RecordView, key: HandleOfFile): Awaitable<readonly Effect[]> {
  return mapAwaitable(view.get(openChanges, key), (found) =>
    found === undefined ? [put(openChanges, key, {})] : [],
  );
}

/** Returns those of the handles through which content was changed (`markOpenChange`), for their
 *  close. */
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

/** The effects that remove what `markOpenChange` stored, for handles that are being closed. */
export function unmarkOpenChanges(
  file: Omit<HandleOfFile, "handle">,
  handles: readonly bigint[],
): readonly Effect[] {
  return handles.map((handle) => remove(openChanges, { ...file, handle }));
}
