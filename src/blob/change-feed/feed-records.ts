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

/** How far the change feed of an account is written. It changes in the transactions that write the
 *  blobs of the feed, so that each event is written exactly once. */
export interface FeedState {
  /** Position of the last event in the feed; undefined before the first one. */
  readonly cursor?: LogPosition | undefined;
  /** Begin of the newest segment; undefined before the first one. */
  readonly segment?: Ticks | undefined;
  /** Whether the newest segment is final, so that further events are in a later one. */
  readonly isFinal?: true | undefined;
  /** Number of the newest chunk of the segment. */
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

/** Begin of the segment that a time is in. */
export function segmentOf(time: Ticks): Ticks {
  return time - (time % segmentTicks);
}

export function segmentEnd(segment: Ticks): Ticks {
  return segment + segmentTicks;
}

/** The part of blob names that identifies the segment: `2020/08/10/1600`. */
function pathOf(segment: Ticks): string {
  const [year, month, day, hour] = formatIsoSeconds(segment).split(/[-T:]/);
  return `${year}/${month}/${day}/${hour}00`;
}

const indexPrefix = "idx/segments/";

export function manifestName(segment: Ticks): string {
  return `${indexPrefix}${pathOf(segment)}/meta.json`;
}

/** The range of the names of manifests. */
export const manifestsPrefix = indexPrefix;

/** The begin of the segment of a manifest; undefined for the placeholder and for other names. */
export function segmentOfManifest(name: string): Ticks | undefined {
  const [year = "", month, day, hour = ""] = name.slice(indexPrefix.length).split("/");
  if (year === placeholderYear) return undefined;
  return parseIso(`${year}-${month}-${day}T${hour.slice(0, 2)}:00:00Z`);
}

const placeholderYear = "1601";

/** Readers list the folders below the index, one per year, and skip this first one. */
export const placeholderName = `${indexPrefix}${placeholderYear}/01/01/0000/meta.json`;

export const segmentsName = "meta/segments.json";

/** The prefix of the chunks of a segment. The feed has one shard. */
export function chunksPrefix(segment: Ticks): string {
  return `log/00/${pathOf(segment)}/`;
}

export function chunkName(segment: Ticks, chunk: number): string {
  return `${chunksPrefix(segment)}${String(chunk).padStart(5, "0")}.avro`;
}

/** The JSON that describes a segment. */
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

/** The JSON that says up to which segment the feed can be read. */
export function segmentsOf(lastConsumable: Ticks, now: Ticks): string {
  return JSON.stringify({
    version: 0,
    lastConsumable: formatIsoSeconds(lastConsumable),
    storageDiagnostics: { version: 0, lastModifiedTime: formatIsoSeconds(now) },
  });
}

/** The records of the change feed: schema 5 of the service. Readers find fields by their names. */

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

/** The first bytes of a chunk. */
export function chunkHeader(marker: Uint8Array): Uint8Array {
  return avroHeader({ "avro.codec": "null", "avro.schema": schema }, marker);
}

/** Blocks of the service have 10 to 30 events; larger ones take less time to read. */
const blockEventsMax = 100;

/** The events as blocks of a chunk. */
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
  // Containers have no versions here.
  encoder.nullable(undefined, asText);
  encoder.nullable(tier, (value) => encoder.long(indexIn(tiers, value)));
  // The service leaves the URL empty.
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

/** The Data Lake API is not among the names of the feed. On flat accounts, which alone have a feed,
 *  its operations write and delete blobs. */
const blobNames: Readonly<Record<string, string>> = {
  CreateFile: "PutBlob",
  CreateDirectory: "PutBlob",
  FlushWithClose: "PutBlockList",
  DirectoryCreated: "BlobCreated",
};

function blobName(name: string): string {
  return blobNames[name] ?? name;
}

/** The index of a symbol; 0, which stands for an unspecified value, if there is no such symbol. */
function indexIn(symbols: readonly string[], symbol: string | undefined): number {
  return Math.max(0, symbols.indexOf(symbol ?? ""));
}
