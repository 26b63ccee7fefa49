import { hasEventLog, logEvent, type EventRecord, type EventType } from "../account/event-log.ts";
import { formatIso } from "../base/dates.ts";
import { encodeBase64 } from "../base/base64.ts";
import { plannedLength } from "../content/content-ref.ts";
import { reclaim, type Effect, type LogAppend } from "../operation/effects.ts";
import type { DecidedChange } from "../operation/service.ts";
import type { RecordView } from "../operation/view.ts";
import type { BlobPolicy } from "./blob-policy.ts";
import { containerNames, type ContainerName } from "./indexes.ts";
import { pathOfDirectory } from "./tree/find-path.ts";
import {
  blobs,
  generations,
  type BlobKey,
  type BlobRecord,
  type GenerationKey,
} from "./records.ts";
import type { BlobAddress, ContainerScope } from "./resources.ts";
import { retentionDays } from "./shared/overwrite.ts";
import type { HttpHeaders } from "../protocol/metadata.ts";

/** The events of changes to blobs, for subscriptions and the change feed: which event an operation
 *  causes, and what the event says. Written to the event log of the account in the transaction of
 *  the change. */

/** The type of the event that each operation causes. The keys are Azure's names of the operations
 *  (`api` of an event). */
const eventTypes = {
  PutBlob: "BlobCreated",
  PutBlockList: "BlobCreated",
  CopyBlob: "BlobCreated",
  UndeleteBlob: "BlobCreated",
  DeleteBlob: "BlobDeleted",
  SetBlobMetadata: "BlobPropertiesUpdated",
  SetBlobProperties: "BlobPropertiesUpdated",
  SetBlobTags: "BlobPropertiesUpdated",
  AbortCopyBlob: "BlobPropertiesUpdated",
  SnapshotBlob: "BlobSnapshotCreated",
  SetBlobTier: "BlobTierChanged",
  // Operations of the Data Lake API.
  CreateFile: "BlobCreated",
  CreateDirectory: "DirectoryCreated",
  FlushWithClose: "BlobCreated",
  RenameFile: "BlobRenamed",
  RenameDirectory: "DirectoryRenamed",
  DeleteFile: "BlobDeleted",
  DeleteDirectory: "DirectoryDeleted",
} as const satisfies Readonly<Record<string, EventType>>;

type Api = keyof typeof eventTypes;

/** What an operation counts as in the event log. `none`: its changes cause no events. `decided`:
 *  the reply names it (`DecidedEvent`). */
export type BlobApi = Api | "none" | "decided";

/** The event of one decision, in `event` of its reply. For operations of the Data Lake API whose
 *  event depends on the request: flush, rename and delete. */
export interface DecidedEvent {
  readonly api: Api;
  /** `each`: one event for each blob that the effects write (with this `api`) or delete, as when a
   *  directory of a flat account is renamed. Undefined: one event of the target. */
  readonly of?: "each";
  /** The target after the change, if the reply does not put it: an effect writes it under another
   *  key, as in a rename. */
  readonly record?: BlobRecord;
  readonly source?: EventRecord["source"];
  readonly recursive?: boolean;
}

type BlobChange = DecidedChange<BlobAddress>;

/** Returns the effects that append the events of a decision to the event log, in the same
 *  transaction. `operation/` calls it through `blob/service.ts`, only for accounts with an event
 *  log. */
export function blobEvents(change: BlobChange): readonly Effect[] {
  const { account } = change.scope as ContainerScope;
  const events = eventsIn(change).map((event) => logEvent(account.id, event));
  return [...events, ...rehydrationJob(change)];
}

/** The background job that writes an event when a rehydration (change from the tier Archive) that
 *  this change begins has ended. It does not write the blob: reads compute the new tier from the
 *  time (`afterRehydration`). */
function rehydrationJob({ reply, before, scope }: BlobChange): readonly Effect[] {
  const decided = reply.event as DecidedEvent | undefined;
  const after = (reply.put as BlobRecord | undefined) ?? decided?.record;
  const due = after?.rehydration?.due;
  if (due === undefined || due === (before as BlobRecord | undefined)?.rehydration?.due) return [];
  const { key } = scope as ContainerScope;
  return [reclaim("blob-rehydration", [key.container, key.name, due], due)];
}

function eventsIn(change: BlobChange): readonly EventRecord[] {
  const { event: declared } = change.operation.policy as BlobPolicy;
  const { reply } = change;
  const decided = reply.event as DecidedEvent | undefined;
  const api = declared === "decided" ? (decided?.api ?? "none") : declared;
  const after = (reply.put as BlobRecord | undefined) ?? decided?.record;
  const isChange = after !== undefined || reply.remove === true || hasEffects(reply);
  // A pending asynchronous copy causes no event now, but when it completes.
  if (api === "none" || !isChange || after?.copy?.status === "pending") return [];
  if (decided?.of === "each") return eventsOfEffects(change, api);
  const before = change.before as BlobRecord | undefined;
  const removed = api === "DeleteBlob" ? removedGenerations(change) : [];
  const isOfBlob = api !== "DeleteBlob" || reply.remove === true;
  const events = removed.map((generation) => eventOf(change, api, generation, undefined));
  if (!isOfBlob) return events;
  const { source, recursive } = decided ?? {};
  const details = detailsOf(change, before, after);
  const own = { ...eventOf(change, api, before, after), ...details, source, recursive };
  return [...events, own];
}

/** One event for each blob that an operation writes or deletes: a rename or deletion of a directory
 *  of a flat account changes all blobs below it. */
function eventsOfEffects(change: BlobChange, api: Api): readonly EventRecord[] {
  const { effects = [] } = change.reply;
  return effects.flatMap((effect) => {
    const isOfBlob = "table" in effect && effect.table.tag === blobs.tag;
    if (!isOfBlob) return [];
    const { name: path } = effect.key as BlobKey;
    const record = effect.effect === "put" ? (effect.record as BlobRecord) : undefined;
    const isRemoved = record === undefined;
    return [{ ...eventOf(change, isRemoved ? "DeleteBlob" : api, undefined, record), path }];
  });
}

function hasEffects({ effects = [] }: BlobChange["reply"]): boolean {
  return effects.length > 0;
}

/** The snapshots, or the addressed version, that a deletion removes or soft-deletes: each has an
 *  event of its own. */
function removedGenerations({ reply, now, address, before }: BlobChange): readonly BlobRecord[] {
  const isAddressed = address.snapshot !== undefined || address.versionId !== undefined;
  if (isAddressed) return before === undefined ? [] : [before as BlobRecord];
  const { effects = [] } = reply;
  return effects.flatMap((effect) => {
    if (effect.effect !== "put" && effect.effect !== "remove") return [];
    const { kind, at } = effect.key as GenerationKey;
    if (effect.table.tag !== generations.tag || kind !== "snapshot") return [];
    const record = effect.effect === "put" ? (effect.record as BlobRecord) : undefined;
    const isRemoved = record === undefined || record.deleted?.at === now;
    const state = record ?? (before as BlobRecord);
    return isRemoved ? [{ ...state, snapshot: at }] : [];
  });
}

function eventOf(
  { address, now, newETag, operation, reply, requestId, clientRequestId, endpoint }: BlobChange,
  api: Api,
  before: BlobRecord | undefined,
  after: BlobRecord | undefined,
): EventRecord {
  const state = after ?? before;
  const { content } = reply;
  return {
    type: typeOf(api, after, state),
    api,
    time: now,
    container: address.container,
    path: address.blob,
    requestId,
    clientRequestId,
    etag: operation.etag === "renew" ? newETag : state?.etag,
    contentType: state?.headers.contentType ?? defaultContentType,
    contentLength: content === undefined ? (state?.content.length ?? 0) : plannedLength(content),
    blobType: state?.type,
    endpoint,
    tier: state?.tier,
    versionId: state?.versionId,
    snapshot: api === "SnapshotBlob" ? newETag : state?.snapshot,
  };
}

const defaultContentType = "application/octet-stream";

function typeOf(api: Api, after: BlobRecord | undefined, state: BlobRecord | undefined): EventType {
  const type = eventTypes[api];
  if (api === "SetBlobTier" && after?.rehydration !== undefined) {
    return "BlobAsyncOperationInitiated";
  }
  // The Blob API, too, can create and delete directories of hierarchical accounts. Its event is
  // then that of a directory.
  if (state?.directory === undefined) return type;
  return type === "BlobCreated" || type === "BlobDeleted" ? directoryTypes[type] : type;
}

const directoryTypes = {
  BlobCreated: "DirectoryCreated",
  BlobDeleted: "DirectoryDeleted",
} as const;

/** A change of a blob that no request causes: the end of a copy or rehydration, or an expiry. */
interface ServerChange {
  readonly api: Api;
  readonly before: BlobRecord | undefined;
  readonly after: BlobRecord | undefined;
  /** Length of the content in bytes, if the record does not refer to it yet (end of a copy). */
  readonly contentLength?: number;
}

/** The effects that log the event of a change without a request: none if the account has no event
 *  log, or if the container was deleted. */
export async function serverEvents(
  view: RecordView,
  { container: directory, name }: BlobKey,
  { api, before, after, contentLength }: ServerChange,
): Promise<readonly LogAppend[]> {
  const { container, names } = await pathOfDirectory(view, directory);
  const place = await findContainer(view, container);
  if (place === undefined || !(await hasEventLog(view, place.account))) return [];
  const state = after ?? before;
  const isMoved = after !== undefined && before?.tier !== undefined && before.tier !== after.tier;
  const event: EventRecord = {
    type: typeOf(api, after, state),
    api,
    time: view.now,
    container: place.name,
    path: [...names, name].join("/"),
    etag: state?.etag,
    contentType: state?.headers.contentType ?? defaultContentType,
    contentLength: contentLength ?? state?.content.length ?? 0,
    blobType: state?.type,
    tier: state?.tier,
    versionId: state?.versionId,
    ...(isMoved && { previous: { PreviousTier: before?.tier ?? "" } }),
  };
  return [logEvent(place.account, event)];
}

async function findContainer(view: RecordView, id: bigint): Promise<ContainerName | undefined> {
  for await (const batch of view.scan(containerNames, {
    ...containerNames.range([id]),
    limit: 1,
  })) {
    return batch[0]?.record;
  }
  return undefined;
}

type Details = Pick<EventRecord, "previous" | "updated" | "tags" | "asyncOperation">;

/** The changed properties and tags with old and new values, for the change feed. */
function detailsOf(
  change: BlobChange,
  before: BlobRecord | undefined,
  after: BlobRecord | undefined,
): Details {
  const details: { -readonly [F in keyof Details]: Details[F] } = {};
  const previous = previousOf(change, before, after);
  if (Object.keys(previous).length > 0) details.previous = previous;
  if (before === undefined || after === undefined) return details;
  if (after.rehydration !== undefined) {
    details.asyncOperation = { DestinationTier: after.rehydration.to, WasAsyncOperation: "true" };
  }
  const { event } = change.operation.policy as BlobPolicy;
  if (event === "SetBlobProperties") details.updated = updatedHeaders(before, after);
  if (event === "SetBlobTags") {
    details.tags = { current: after.tags ?? {}, previous: before.tags ?? {} };
  }
  return details;
}

function previousOf(
  { scope, reply, newETag }: BlobChange,
  before: BlobRecord | undefined,
  after: BlobRecord | undefined,
): Record<string, string> {
  const previous: Record<string, string> = {};
  if (before === undefined) return previous;
  if (before.versionId !== undefined && before.versionId !== after?.versionId) {
    previous["LastVersion"] = formatIso(before.versionId);
    if (after?.versionId !== undefined) previous["BlobVersion"] = formatIso(after.versionId);
  }
  const { tier } = before;
  const isMoved = after !== undefined && after.tier !== tier;
  if (isMoved && tier !== undefined) previous["PreviousTier"] = tier;
  const { account } = scope as ContainerScope;
  const isKept = before.versionId === undefined && retentionDays(account) !== undefined;
  if (reply.remove === true) previous["WasBlobSoftDeleted"] = String(isKept);
  const isReplaced = reply.content !== undefined && isKept;
  if (isReplaced) previous["SoftDeleteSnapshot"] = formatIso(newETag);
  return previous;
}

const headerNames: Readonly<Record<keyof HttpHeaders, string>> = {
  contentType: "ContentType",
  contentEncoding: "ContentEncoding",
  contentLanguage: "ContentLanguage",
  contentMd5: "ContentMD5",
  cacheControl: "CacheControl",
  contentDisposition: "ContentDisposition",
};

function updatedHeaders(before: BlobRecord, after: BlobRecord): EventRecord["updated"] {
  const updated: Record<string, { readonly current: string; readonly previous: string }> = {};
  for (const [field, name] of Object.entries(headerNames)) {
    const [current, previous] = [after, before].map(({ headers }) =>
      textOf(headers[field as keyof HttpHeaders]),
    ) as [string, string];
    if (current !== previous) updated[name] = { current, previous };
  }
  return updated;
}

function textOf(value: string | Uint8Array | undefined): string {
  return value instanceof Uint8Array ? encodeBase64(value) : (value ?? "");
}
