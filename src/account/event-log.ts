import type { Ticks } from "../base/ticks.ts";
import { defineTable, internalRecord, recordCodec } from "../encoding/table.ts";
import { appendTo, type LogAppend } from "../operation/effects.ts";
import type { RecordView } from "../operation/view.ts";
import { accounts } from "./account-record.ts";
import { logBounds, positionInLog, type LogPosition } from "../store/logs.ts";
import type { View } from "../store/store.ts";

/** The event log of an account: its committed changes in commit order. Transactions that change
 *  blobs or files append to it (`blob/events.ts`, `file/events.ts`); the change feed and the
 *  deliveries of subscriptions read it (`blob/change-feed`, `events`). */

/** The event types of Azure Event Grid. The keys are the names that the change feed of blobs
 *  uses. */
const eventGridTypes = {
  BlobCreated: "Microsoft.Storage.BlobCreated",
  BlobDeleted: "Microsoft.Storage.BlobDeleted",
  BlobTierChanged: "Microsoft.Storage.BlobTierChanged",
  BlobAsyncOperationInitiated: "Microsoft.Storage.AsyncOperationInitiated",
  BlobRenamed: "Microsoft.Storage.BlobRenamed",
  DirectoryCreated: "Microsoft.Storage.DirectoryCreated",
  DirectoryRenamed: "Microsoft.Storage.DirectoryRenamed",
  DirectoryDeleted: "Microsoft.Storage.DirectoryDeleted",
} as const;

/** The full names of the types. The change feed and the File service have types that Event Grid
 *  does not have. A subscription gets these only if it names them, because a handler that is
 *  written for Azure does not expect them. Azure has no events of the File service. */
export const eventTypeNames = {
  ...eventGridTypes,
  BlobPropertiesUpdated: "Microsoft.Storage.BlobPropertiesUpdated",
  BlobSnapshotCreated: "Microsoft.Storage.BlobSnapshotCreated",
  FileCreated: "Etagere.FileCreated",
  FileContentUpdated: "Etagere.FileContentUpdated",
  FilePropertiesUpdated: "Etagere.FilePropertiesUpdated",
  FileRenamed: "Etagere.FileRenamed",
  FileDeleted: "Etagere.FileDeleted",
  FileDirectoryCreated: "Etagere.FileDirectoryCreated",
  FileDirectoryPropertiesUpdated: "Etagere.FileDirectoryPropertiesUpdated",
  FileDirectoryRenamed: "Etagere.FileDirectoryRenamed",
  FileDirectoryDeleted: "Etagere.FileDirectoryDeleted",
} as const;

/** The type of an event: what happened to a blob, path or file. */
export type EventType = keyof typeof eventTypeNames;

/** The types that a subscription gets if it names none. */
export const standardTypes: ReadonlySet<string> = new Set(Object.values(eventGridTypes));

/** A committed change. It is written by the transaction that makes the change, so that an event
 *  exists if and only if its commit does. */
export interface EventRecord {
  readonly type: EventType;
  /** The operation, as Azure names it in events, for example `PutBlob`. */
  readonly api: string;
  /** Store time of the transaction that caused the event. */
  readonly time: Ticks;
  /** Name of the container or share. */
  readonly container: string;
  /** Name of the blob, or path of the file. */
  readonly path: string;
  /** Id of the request; undefined if the server made the change itself. */
  readonly requestId?: string | undefined;
  readonly clientRequestId?: string | undefined;
  readonly etag?: Ticks | undefined;
  readonly contentType?: string | undefined;
  readonly contentLength?: number | undefined;
  readonly blobType?: string | undefined;
  readonly tier?: string | undefined;
  readonly versionId?: Ticks | undefined;
  readonly snapshot?: Ticks | undefined;
  /** The URL of the service that the request was sent to; undefined if the server made the change
   *  itself. */
  readonly endpoint?: string | undefined;
  /** Renames: container and path before it. `container` and `path` are the new ones. */
  readonly source?: { readonly container: string; readonly path: string } | undefined;
  /** Deletions of directories: whether all that they contained was deleted. */
  readonly recursive?: boolean | undefined;
  /** Fields of the blob before the change, with the names of the change feed; undefined if the
   *  event has none. */
  readonly previous?: Readonly<Record<string, string>> | undefined;
  /** HTTP headers that have changed, by the names of the change feed. */
  readonly updated?: Readonly<Record<string, UpdatedValue>> | undefined;
  readonly tags?: UpdatedTags | undefined;
  /** The operation that was initiated and takes longer, by the names of the change feed. */
  readonly asyncOperation?: Readonly<Record<string, string>> | undefined;
}

interface UpdatedValue {
  readonly current: string;
  readonly previous: string;
}

interface UpdatedTags {
  readonly current: Readonly<Record<string, string>>;
  readonly previous: Readonly<Record<string, string>>;
}

/** Whether an event is of a file, which the change feed of blobs does not contain. */
export function isOfFile({ type }: Pick<EventRecord, "type">): boolean {
  return type.startsWith("File");
}

/** An event with its position in the log of its account, which is its place in commit order. */
export interface LoggedEvent {
  readonly position: LogPosition;
  readonly event: EventRecord;
}

/** The event log: the events of an account in commit order. The key is that of the account followed
 *  by the position (`store/logs.ts`). */
export const eventLog = defineTable<bigint, EventRecord>({
  name: "event-log",
  tag: 0x09,
  key: (account) => [account],
  codec: recordCodec<EventRecord>({
    version: 1,
    shape: {
      type: true,
      api: true,
      time: true,
      container: true,
      path: true,
      requestId: true,
      clientRequestId: true,
      etag: true,
      contentType: true,
      contentLength: true,
      blobType: true,
      endpoint: true,
      tier: true,
      versionId: true,
      snapshot: true,
      source: true,
      recursive: true,
      previous: true,
      updated: true,
      tags: true,
      asyncOperation: true,
    },
  }),
  owner: "account",
  ...internalRecord,
});

/** The field `sequencer` of events: a text that is greater for later changes. It has 48 hexadecimal
 *  digits, as in Azure. */
export function sequencerOf({ sequence, number }: LogPosition): string {
  return sequence.toString(16).padStart(32, "0") + number.toString(16).padStart(16, "0");
}

const sequenceDigits = 8;
const numberDigits = 4;

/** The id of an event: a GUID that no other event has, and the same for each delivery. It is the id
 *  of the request with the position of the event in its last part, because one request may have
 *  several transactions. For a change that the server made itself, it is the position alone. */
export function eventIdOf({ position, event }: LoggedEvent): string {
  const sequence = position.sequence.toString(16).padStart(16, "0");
  const number = position.number.toString(16).padStart(numberDigits, "0");
  const { requestId } = event;
  if (requestId === undefined) {
    const groups = [sequence.slice(0, 8), sequence.slice(8, 12), sequence.slice(12)];
    return [...groups, "0000", number.padStart(12, "0")].join("-");
  }
  const place = sequence.slice(-sequenceDigits) + number;
  return requestId.slice(0, -place.length) + place;
}

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-([0-9a-f]{4})-([0-9a-f]{8})([0-9a-f]{4})$/;

/** The position that the id of an event contains; undefined if the text is not the id of an event.
 *  The id of a request contains only the lower half of a sequence: it means the latest matching one
 *  up to `sequence`. */
export function positionInId(id: string, sequence: number): LogPosition | undefined {
  const [, variant, lower = "", digits = ""] = idForm.exec(id) ?? [];
  if (variant === undefined) return undefined;
  const number = Number.parseInt(digits, 16);
  if (variant === "0000") {
    return { sequence: Number.parseInt(id.slice(0, 18).replaceAll("-", ""), 16), number };
  }
  const period = 16 ** sequenceDigits;
  const behind = (sequence - Number.parseInt(lower, 16)) % period;
  return { sequence: sequence - ((behind + period) % period), number };
}

/** The resource id of an account, which Azure's events have as topic. */
export function topicOf(account: string): string {
  return (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/etagere" +
    `/providers/Microsoft.Storage/storageAccounts/${account}`
  );
}

/** The position up to which a log has been deleted, so that a stream can say which events it has
 *  missed. */
interface LogTrim {
  readonly position: LogPosition;
}

export const eventLogTrims = defineTable<bigint, LogTrim>({
  name: "event-log-trims",
  tag: 0x0d,
  key: (account) => [account],
  codec: recordCodec<LogTrim>({ version: 1 }),
  owner: "account",
  ...internalRecord,
});

/** The write that appends an event to the log of an account; its commit determines the position. */
export function logEvent(account: bigint, event: EventRecord): LogAppend {
  return appendTo(eventLog.key(account), eventLog.codec.encode(event));
}

/** Whether the account with an id has an event log, for changes that the server makes itself. A
 *  request knows the record of its account; a background task looks through all of them. */
export async function hasEventLog(view: RecordView, account: bigint): Promise<boolean> {
  for await (const batch of view.scan(accounts, accounts.range([]))) {
    const found = batch.find(({ record }) => record.id === account);
    if (found !== undefined) return found.record.events !== undefined;
  }
  return false;
}

/** Reads at most `limit` events after a position of the log, or from its start if that is
 *  undefined. */
export async function readEvents(
  view: View,
  account: bigint,
  after: LogPosition | undefined,
  limit: number,
): Promise<readonly LoggedEvent[]> {
  const bounds = logBounds(eventLog.key(account), after, view.sequence);
  const entries = await view.readHead({ ...bounds, limit });
  return entries.map(({ key, value }) => ({
    position: positionInLog(key),
    event: eventLog.codec.decode(value),
  }));
}
