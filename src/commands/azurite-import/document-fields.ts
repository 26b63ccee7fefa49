import { parseIso } from "../../base/dates.ts";
import { infiniteLeaseSeconds, type Lease } from "../../protocol/lease.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { validPairs, type Metadata, type HttpHeaders } from "../../protocol/metadata.ts";
import type { StoredPolicy } from "../../protocol/permission.ts";
import { ticksFromUnixMilliseconds, type Ticks } from "../../base/ticks.ts";
import { type ExtentChunk, isZeroExtent } from "./azurite-folder.ts";
import { ImportRefused } from "../../host/refused.ts";
import type { BlobRecord, BlobType, CopyState } from "../../blob/records.ts";
import { blockTiers, pageTiers } from "../../blob/tier/rehydration.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { checkTags, type Tags } from "../../protocol/tags.ts";

/** Reads the fields of documents in a database of Azurite one by one, with checks: users may have
 *  edited the file. Makes a record (`blobRecordOf`) and parts of content (`blobParts`) of a
 *  blob. */

/** The fields of a document, or of an object in it. */
export type Fields = Readonly<Record<string, unknown>>;

/** Azure's limit of the stored access policies of a resource; further ones are not imported. */
const policiesMax = 5;

/** The fields of an object; none if the value is no object. */
export function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Characters that an HTTP header value cannot contain. */
const unsendableForm = /[^\t\x20-\x7e\x80-\xff]/;

/** A text that responses return in a header. Throws `ImportRefused` if it cannot be sent. */
function headerTextOf(fields: Fields, name: string): string | undefined {
  const text = textOf(fields[name]);
  if (text === undefined || !unsendableForm.test(text)) return text;
  throw new ImportRefused([`${JSON.stringify(name)} has characters that no header may contain`]);
}

/** Returns a text that must be present. Throws `ImportRefused`, which names the field, if not. */
export function requiredText(fields: Fields, name: string): string {
  const value = textOf(fields[name]);
  if (value === undefined) throw new ImportRefused([`a document lacks "${name}"`]);
  return value;
}

export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Parses an ISO time or milliseconds since 1970; Azurite writes both. */
export function ticksOf(value: unknown): Ticks | undefined {
  if (typeof value === "string") return parseIso(value);
  const milliseconds = countOf(value);
  return milliseconds === undefined ? undefined : ticksFromUnixMilliseconds(milliseconds);
}

export function chunkOf(value: unknown): ExtentChunk {
  const fields = fieldsOf(value);
  const id = textOf(fields["id"]);
  const offset = countOf(fields["offset"]);
  const count = countOf(fields["count"]);
  if (id === undefined || offset === undefined || count === undefined) {
    throw new ImportRefused(["a document has no location of its bytes"]);
  }
  return { id, offset, count };
}

export function metadataOf(value: unknown): Metadata {
  const fields = fieldsOf(value);
  const pairs = Object.keys(fields).flatMap((name) => {
    const text = headerTextOf(fields, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return validPairs(pairs);
}

/** LokiJS writes a Buffer as `{ type: "Buffer", data: […] }`, other bytes as `{ "0": … }`. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === "string") return new Uint8Array(Buffer.from(value, "base64"));
  const fields = fieldsOf(value);
  const list = Array.isArray(fields["data"]) ? fields["data"] : Object.values(fields);
  const isBytes = list.every((byte) => typeof byte === "number" && byte >= 0 && byte <= 255);
  return list.length > 0 && isBytes ? Uint8Array.from(list as number[]) : undefined;
}

export function policiesOf(value: unknown): readonly StoredPolicy[] {
  return listOf(value)
    .slice(0, policiesMax)
    .flatMap((entry) => {
      const { id, accessPolicy } = fieldsOf(entry);
      const { start, expiry, permission } = fieldsOf(accessPolicy);
      if (typeof id !== "string" || id === "") return [];
      const term = { start: ticksOf(start), expiry: ticksOf(expiry) };
      return [{ id, ...term, permission: textOf(permission) }];
    });
}

/** The lease of a blob or container. A time that is missing becomes `now`. */
export function leaseOf(document: Fields, now: Ticks): Lease | undefined {
  const { leaseState: state } = fieldsOf(document["properties"]);
  const id = parseGuid(textOf(document["leaseId"]) ?? "");
  if (id === undefined || state === undefined || state === "available") return undefined;
  const expiresAt = ticksOf(document["leaseExpireTime"]);
  const seconds = countOf(document["leaseDurationSeconds"]);
  const isFixed = seconds !== undefined && seconds > 0;
  const durationSeconds = isFixed ? seconds : infiniteLeaseSeconds;
  const fixed = isFixed ? { expiresAt: expiresAt ?? now } : {};
  if (state === "leased" || state === "expired") return { id, durationSeconds, ...fixed };
  return { id, durationSeconds, ...fixed, breaksAt: ticksOf(document["leaseBreakTime"]) ?? now };
}

/** A part of the content of a blob: the bytes that one request wrote, namely a block, an appended
 *  block or a range of pages. */
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

/** The chunk of a block. Throws for zeros that are not stored, which only page blobs may have: a
 *  damaged document could claim any number of them. */
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
