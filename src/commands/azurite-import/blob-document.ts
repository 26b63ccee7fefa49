import type { BlobRecord, BlobType, CopyState } from "../../blob/records.ts";
import { blockTiers, pageTiers } from "../../blob/tier/rehydration.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { checkTags, type Tags } from "../../protocol/tags.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isZeroExtent, type ExtentChunk } from "./azurite-folder.ts";
import {
  bytesOf,
  chunkOf,
  countOf,
  fieldsOf,
  headerTextOf,
  leaseOf,
  listOf,
  metadataOf,
  textOf,
  ticksOf,
  type Fields,
} from "./document-fields.ts";
import { ImportRefused } from "../../host/refused.ts";
import type { HttpHeaders } from "../../protocol/metadata.ts";

/** Turns the document that Azurite stores for a blob into a record and the parts of its content. A
 *  part has the bytes that one request wrote: a block, an appended block or a range of pages. */
export interface BlobPart {
  readonly at: number;
  readonly chunk: ExtentChunk;
  readonly block: string | undefined;
}

const blobTypes: readonly string[] = ["BlockBlob", "AppendBlob", "PageBlob"] satisfies BlobType[];
const knownTiers: ReadonlySet<string> = new Set([...blockTiers, ...pageTiers]);
const md5Bytes = 16;

export function blobTypeOf({ properties }: Fields): BlobType {
  const type = textOf(fieldsOf(properties)["blobType"]) ?? "";
  if (!blobTypes.includes(type))
    throw new ImportRefused([`${JSON.stringify(type)} is not a blob type`]);
  return type as BlobType;
}

/** The record of an imported blob, without content. It keeps its Last-Modified. Its ETag is derived
 *  from that, so it differs from the one in Azurite. */
export function blobRecordOf(document: Fields, now: Ticks): BlobRecord {
  const properties = fieldsOf(document["properties"]);
  const type = blobTypeOf(document);
  const created = earlier(ticksOf(properties["creationTime"]), now);
  const snapshot = snapshotOf(document);
  const isInferred = properties["accessTierInferred"] === true;
  const tier = textOf(properties["accessTier"]);
  const hasTier = !isInferred && tier !== undefined && knownTiers.has(tier);
  return {
    etag: earlier(ticksOf(properties["lastModified"]), now),
    created,
    type,
    content: emptyContent,
    headers: headersOf(properties),
    metadata: metadataOf(document["metadata"]),
    lease: snapshot === undefined ? leaseOf(document, now) : undefined,
    tags: tagsOf(document["blobTags"]),
    tier: hasTier ? tier : undefined,
    tierChanged: hasTier ? earlier(ticksOf(properties["accessTierChangeTime"]), now) : undefined,
    snapshot,
    copy: copyOf(properties),
    ...(type === "PageBlob"
      ? { sequenceNumber: BigInt(countOf(properties["blobSequenceNumber"]) ?? 0), lineage: created }
      : {}),
    ...(type === "AppendBlob" ? appendState(document, properties) : {}),
  };
}

/** Limits a time to `now`: records must not be newer than the store time. */
function earlier(moment: Ticks | undefined, now: Ticks): Ticks {
  return moment === undefined || moment > now ? now : moment;
}

export function snapshotOf({ snapshot }: Fields): Ticks | undefined {
  return textOf(snapshot) === "" ? undefined : ticksOf(snapshot);
}

export function contentLengthOf({ properties }: Fields): number {
  return countOf(fieldsOf(properties)["contentLength"]) ?? 0;
}

function headersOf(properties: Fields): HttpHeaders {
  const md5 = bytesOf(properties["contentMD5"]);
  return {
    contentType: headerTextOf(properties, "contentType"),
    contentEncoding: headerTextOf(properties, "contentEncoding"),
    contentLanguage: headerTextOf(properties, "contentLanguage"),
    contentMd5: md5?.length === md5Bytes ? md5 : undefined,
    cacheControl: headerTextOf(properties, "cacheControl"),
    contentDisposition: headerTextOf(properties, "contentDisposition"),
  };
}

function appendState(document: Fields, properties: Fields) {
  const committedBlockCount = listOf(document["committedBlocksInOrder"]).length;
  return properties["isSealed"] === true
    ? { committedBlockCount, sealed: true as const }
    : { committedBlockCount };
}

function tagsOf(value: unknown): Tags | undefined {
  const entries = listOf(fieldsOf(value)["blobTagSet"]).flatMap((entry) => {
    const { key, value: text } = fieldsOf(entry);
    return typeof key === "string" && typeof text === "string" ? [[key, text] as const] : [];
  });
  const tags = checkTags(entries);
  if (!tags.ok) throw new ImportRefused([`its tags are not valid: ${tags.fault.code}`]);
  return entries.length === 0 ? undefined : tags.value;
}

/** The copy state of a blob. Azurite has only completed copies, because it copies synchronously. */
function copyOf(properties: Fields): CopyState | undefined {
  const id = headerTextOf(properties, "copyId");
  const source = headerTextOf(properties, "copySource");
  if (id === undefined || source === undefined || properties["copyStatus"] !== "success") {
    return undefined;
  }
  const bytes = Number(/^(\d+)\/\1$/.exec(textOf(properties["copyProgress"]) ?? "")?.[1] ?? 0);
  const completed = ticksOf(properties["copyCompletionTime"]);
  const [plain = source] = source.split("?");
  return { id, source: plain, status: "success", copiedBytes: bytes, totalBytes: bytes, completed };
}

/** The stored parts of a blob, by ascending offset. Zeros of a page blob are left out, because
 *  unwritten pages read as zeros. */
export function blobParts(document: Fields): readonly BlobPart[] {
  if (blobTypeOf(document) === "PageBlob") return pageParts(document);
  const blocks = document["committedBlocksInOrder"];
  if (!Array.isArray(blocks)) {
    const { persistency } = document;
    if (persistency === undefined || persistency === null) return [];
    return [{ at: 0, chunk: storedChunkOf(persistency), block: undefined }];
  }
  const parts: BlobPart[] = [];
  let at = 0;
  for (const entry of blocks) {
    const { name, persistency } = fieldsOf(entry);
    const chunk = storedChunkOf(persistency);
    parts.push({ at, chunk, block: textOf(name) === "" ? undefined : textOf(name) });
    at += chunk.count;
  }
  return parts;
}

/** Rejects a chunk of zeros that are not stored, which only page blobs may have: a damaged document
 *  could claim any number of them. */
export function storedChunkOf(value: unknown): ExtentChunk {
  const chunk = chunkOf(value);
  if (isZeroExtent(chunk) && chunk.count > 0) {
    throw new ImportRefused(["a block is not stored in an extent"]);
  }
  return chunk;
}

function pageParts(document: Fields): readonly BlobPart[] {
  const length = contentLengthOf(document);
  return listOf(document["pageRangesInOrder"]).flatMap((entry) => {
    const { start, end, persistency } = fieldsOf(entry);
    const chunk = chunkOf(persistency);
    const at = countOf(start);
    const isWhole = at !== undefined && countOf(end) === at + chunk.count - 1;
    if (!isWhole || at + chunk.count > length) throw new ImportRefused(["a page range is damaged"]);
    return isZeroExtent(chunk) ? [] : [{ at, chunk, block: undefined }];
  });
}
