import { formatIsoSeconds, parseIso, formatIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { defineTable, internalRecord, recordCodec } from "../../encoding/table.ts";
import type { LogPosition } from "../../store/logs.ts";
import {
  eventIdOf,
  sequencerOf,
  topicOf,
  type EventRecord,
  type LoggedEvent,
} from "../../account/event-log.ts";
import { AvroEncoder, avroBlock, avroHeader } from "../../encoding/avro.ts";
import { bareETag } from "../../protocol/conditions.ts";

/** The change feed of an account (`$blobchangefeed`): names, JSON and Avro format of its blobs, as
 *  Azure's libraries read them, and the state of writing it. `feed-writer.ts` writes the blobs.
 *  learn.microsoft.com/azure/storage/blobs/storage-blob-change-feed */

/** How far the change feed of an account is written. The transaction that writes events to the
 *  blobs of the feed also writes this record, so that each event is in the feed exactly once. */
export interface FeedState {
  /** Position in the event log (the committed changes of the account) of the last event in the
   *  feed; undefined before the first one. */
  readonly cursor?: LogPosition | undefined;
  /** Start of the newest segment, which has the events of one hour; undefined before the first
   *  one. */
  readonly segment?: Ticks | undefined;
  /** Whether the newest segment is final, so that further events are in a later one. */
  readonly isFinal?: true | undefined;
  /** Number of the newest chunk (Avro file with events) of the segment. */
  readonly chunk: number;
}

export const feedStates = defineTable<bigint, FeedState>({
  name: "change-feeds",
  tag: 0x0f,
  key: (account) => [account],
  codec: recordCodec<FeedState>({ version: 1 }),
  owner: "account",
  ...internalRecord,
});

/** The container with the change feed, which clients can only read. */
export const feedContainer = "$blobchangefeed";

const segmentSeconds = 3600;
const segmentTicks = BigInt(segmentSeconds) * ticksPerSecond;

/** Start of the segment that a time is in: the feed has one segment per hour. */
export function segmentOf(time: Ticks): Ticks {
  return time - (time % segmentTicks);
}

export function segmentEnd(segment: Ticks): Ticks {
  return segment + segmentTicks;
}

/** The part of blob names that identifies the segment by its hour, as `2020/08/10/1600`. */
function pathOf(segment: Ticks): string {
  const [year, month, day, hour] = formatIsoSeconds(segment).split(/[-T:]/);
  return `${year}/${month}/${day}/${hour}00`;
}

const indexPrefix = "idx/segments/";

export function manifestName(segment: Ticks): string {
  return `${indexPrefix}${pathOf(segment)}/meta.json`;
}

/** Prefix of the names of all segment manifests, the JSON blobs that describe segments. */
export const manifestsPrefix = indexPrefix;

/** The start of the segment (hour) that the manifest blob of this name describes; undefined for the
 *  placeholder of 1601 and for other blobs. */
export function segmentOfManifest(name: string): Ticks | undefined {
  const [year = "", month, day, hour = ""] = name.slice(indexPrefix.length).split("/");
  if (year === placeholderYear) return undefined;
  return parseIso(`${year}-${month}-${day}T${hour.slice(0, 2)}:00:00Z`);
}

const placeholderYear = "1601";

/** Name of the placeholder manifest of 1601. Readers list the folders below the index, one per
 *  year, and skip the first. */
export const placeholderName = `${indexPrefix}${placeholderYear}/01/01/0000/meta.json`;

export const segmentsName = "meta/segments.json";

/** Prefix of the names of the chunks of a segment. `00` is the shard: the service may divide a feed
 *  into several, this server has one. */
export function chunksPrefix(segment: Ticks): string {
  return `log/00/${pathOf(segment)}/`;
}

export function chunkName(segment: Ticks, chunk: number): string {
  return `${chunksPrefix(segment)}${String(chunk).padStart(5, "0")}.avro`;
}

/** The JSON of the manifest of a segment, with which readers find its chunks. */
export function manifestOf(segment: Ticks, isFinal: boolean): string {
  const folder = `${feedContainer}/${chunksPrefix(segment)}`;
  return JSON.stringify({
    version: 0,
    begin: formatIsoSeconds(segment),
    intervalSecs: segmentSeconds,
    status: isFinal ? "Finalized" : "Publishing",
    config: {
      version: 0,
      configVersionEtag: "0x8D8000000000000",
      numShards: 1,
      recordsFormat: "avro",
      formatSchemaVersion: 5,
      shardDistFnVersion: 1,
    },
    chunkFilePaths: [folder],
    storageDiagnostics: { version: 0 },
  });
}

/** The JSON of `meta/segments.json`, which says up to which segment readers may read the feed. */
export function segmentsOf(lastConsumable: Ticks, now: Ticks): string {
  return JSON.stringify({
    version: 0,
    lastConsumable: formatIsoSeconds(lastConsumable),
    storageDiagnostics: { version: 0, lastModifiedTime: formatIsoSeconds(now) },
  });
}

/** The Avro schema of the records in a chunk. Readers find fields by their names. */

const schemaVersion = 5;

const eventTypes = [
  "UnspecifiedEventType",
  "BlobCreated",
  "BlobDeleted",
  "BlobPropertiesUpdated",
  "BlobSnapshotCreated",
  "Control",
  "BlobTierChanged",
  "BlobAsyncOperationInitiated",
  "RestorePointMarkerCreated",
] as const;

const apis = [
  "UnspecifiedApi",
  "PutBlob",
  "PutBlockList",
  "CopyBlob",
  "DeleteBlob",
  "SetBlobMetadata",
  "ControlEvent",
  "UndeleteBlob",
  "SetBlobProperties",
  "SnapshotBlob",
  "SetBlobTier",
  "AbortCopyBlob",
  "SetBlobTags",
  "CreateRestorePointMarker",
] as const;

const blobTypes = ["UnspecifiedBlobType", "BlockBlob", "PageBlob", "AppendBlob"] as const;

const tiers = ["UnspecifiedBlobTier", "Hot", "Cool", "Archive", "Cold"] as const;

const namespace = "Microsoft.Storage";
const text = (name: string) => ({ name, type: "string" });
const long = (name: string) => ({ name, type: "long" });
const choice = (name: string, type: string, symbols: readonly string[]) => ({
  name,
  type: { type: "enum", name: type, symbols },
});
const nullable = (name: string, type: string | object) => ({ name, type: ["null", type] });
const texts = { type: "map", values: "string" };
const record = (name: string, ...fields: readonly object[]) => ({ type: "record", name, fields });

const schema = JSON.stringify({
  namespace,
  ...record(
    "BlobChangeEvent",
    long("schemaVersion"),
    text("topic"),
    text("subject"),
    choice("eventType", "EventTypeEnum", eventTypes),
    text("eventTime"),
    text("id"),
    {
      name: "data",
      type: record(
        "BlobChangeEventData",
        choice("api", "ApiEnum", apis),
        text("clientRequestId"),
        text("requestId"),
        text("etag"),
        text("contentType"),
        long("contentLength"),
        choice("blobType", "BlobTypeEnum", blobTypes),
        nullable("blobVersion", "string"),
        nullable("containerVersion", "string"),
        nullable("blobTier", { type: "enum", name: "BlobTierEnum", symbols: tiers }),
        text("url"),
        text("sequencer"),
        nullable("previousInfo", texts),
        nullable("snapshot", "string"),
        nullable("blobPropertiesUpdated", {
          type: "map",
          values: record("values", text("current"), text("previous")),
        }),
        nullable("asyncOperationInfo", texts),
        nullable(
          "blobTagsUpdated",
          record("tags", { name: "previous", type: texts }, { name: "current", type: texts }),
        ),
        nullable("restorePointMarker", texts),
        { name: "storageDiagnostics", type: texts },
      ),
    },
  ),
});

/** The header of a chunk, which is an Avro file; `marker` separates its blocks (`markerOf`). */
export function chunkHeader(marker: Uint8Array): Uint8Array {
  return avroHeader({ "avro.codec": "null", "avro.schema": schema }, marker);
}

/** Most events in an Avro block. The service's blocks have 10 to 30 events; larger ones are read
 *  faster. */
const blockEventsMax = 100;

/** Encodes events as Avro blocks of a chunk, the Avro file to which they are appended. */
export function chunkBlocks(
  account: string,
  events: readonly LoggedEvent[],
  marker: Uint8Array,
): readonly Uint8Array[] {
  const encoder = new AvroEncoder();
  const topic = topicOf(account);
  const blocks: Uint8Array[] = [];
  for (let from = 0; from < events.length; from += blockEventsMax) {
    const block = events.slice(from, from + blockEventsMax);
    for (const logged of block) encodeEvent(encoder, topic, logged);
    blocks.push(avroBlock(block.length, encoder.take(), marker));
  }
  return blocks;
}

function encodeEvent(encoder: AvroEncoder, topic: string, logged: LoggedEvent): void {
  const { event } = logged;
  encoder.long(schemaVersion);
  encoder.text(topic);
  encoder.text(`/blobServices/default/containers/${event.container}/blobs/${event.path}`);
  encoder.long(indexIn(eventTypes, blobName(event.type)));
  encoder.text(formatIso(event.time));
  encoder.text(eventIdOf(logged));
  encodeData(encoder, event, sequencerOf(logged.position));
}

function encodeData(encoder: AvroEncoder, event: EventRecord, sequencer: string): void {
  const asText = (value: string): void => encoder.text(value);
  const asTexts = (entries: Readonly<Record<string, string>>): void => encoder.map(entries, asText);
  const { etag, versionId, snapshot, tier } = event;
  encoder.long(indexIn(apis, blobName(event.api)));
  encoder.text(event.clientRequestId ?? "");
  encoder.text(event.requestId ?? "");
  encoder.text(etag === undefined ? "" : bareETag(etag));
  encoder.text(event.contentType ?? "");
  encoder.long(event.contentLength ?? 0);
  encoder.long(indexIn(blobTypes, event.blobType));
  encoder.nullable(versionId === undefined ? undefined : formatIso(versionId), asText);
  // The field for the version of the container, of which this server keeps none.
  encoder.nullable(undefined, asText);
  encoder.nullable(tier, (value) => encoder.long(indexIn(tiers, value)));
  // The field for the URL of the blob, which the service leaves empty.
  encoder.text("");
  encoder.text(sequencer);
  encoder.nullable(event.previous, asTexts);
  encoder.nullable(snapshot === undefined ? undefined : formatIso(snapshot), asText);
  encoder.nullable(event.updated, (updated) =>
    encoder.map(updated, ({ current, previous }) => {
      encoder.text(current);
      encoder.text(previous);
    }),
  );
  encoder.nullable(event.asyncOperation, asTexts);
  encoder.nullable(event.tags, ({ previous, current }) => {
    asTexts(previous);
    asTexts(current);
  });
  encoder.nullable(undefined, asTexts);
  encoder.map({}, asText);
}

/** Names that the change feed has for operations of the Data Lake API, which its schema lacks. Only
 *  flat accounts have a feed; there these operations write and delete blobs. */
const blobNames: Readonly<Record<string, string>> = {
  CreateFile: "PutBlob",
  CreateDirectory: "PutBlob",
  FlushWithClose: "PutBlockList",
  DirectoryCreated: "BlobCreated",
};

function blobName(name: string): string {
  return blobNames[name] ?? name;
}

/** The index of a symbol in an Avro enumeration of the schema; 0 (unspecified) if unknown. */
function indexIn(symbols: readonly string[], symbol: string | undefined): number {
  return Math.max(0, symbols.indexOf(symbol ?? ""));
}
