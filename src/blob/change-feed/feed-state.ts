import { formatIsoSeconds, parseIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { recordCodec } from "../../encoding/record.ts";
import { defineTable } from "../../encoding/table.ts";
import type { LogPosition } from "../../store/logs.ts";

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
  lifetime: "durable",
  role: "record",
  isArchived: false,
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

/** The part of the names that says the segment: `2020/08/10/1600`. */
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

/** Readers take the first folder below the index for a year and skip this one. */
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
