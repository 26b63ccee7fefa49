import { leaseProperties, type LeaseProperties } from "../../protocol/lease.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { retentionEnds, type BlobRecord, type Deletion } from "../records.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { bareETag } from "../../protocol/conditions.ts";
import type { Features } from "../../protocol/features.ts";
import type { Tags } from "../../protocol/tags.ts";
import {
  element,
  metadataElement,
  nameElement,
  plainElement,
  textElement,
} from "../../encoding/xml-writer.ts";
import { pathElements } from "../tree/find-path.ts";
import { copyElements } from "../copy/copy-headers.ts";
import { protectionHeaders } from "../protection/protection.ts";
import { lastAccess } from "../read/blob-properties.ts";
import { formatDeletionId } from "../tree/move-path.ts";
import { contentTypeOf } from "../shared/create-blob.ts";
import { afterRehydration, defaultTier, tierHeaders } from "../tier/rehydration.ts";
import type { ListEntry } from "./scan-blobs.ts";

/** What a listing shows of each blob: values for both formats (XML and Apache Arrow), and the
 *  XML. */

/** The version id that a listing shows; undefined for snapshots, which are not versions. */
export function versionIdOf({ snapshot, versionId }: BlobRecord): Ticks | undefined {
  return snapshot === undefined ? versionId : undefined;
}

export function isCurrentVersion(record: BlobRecord): boolean {
  const { superseded, deleted } = record;
  return versionIdOf(record) !== undefined && superseded !== true && deleted === undefined;
}

/** The lease that a listing shows. Undefined for snapshots, earlier versions and soft-deleted
 *  entries, which are listed without one. */
export function leaseOf(record: BlobRecord, now: Ticks): LeaseProperties | undefined {
  const { snapshot, superseded, deleted } = record;
  if (snapshot !== undefined || superseded === true || deleted !== undefined) return undefined;
  return leaseProperties(record.lease, now);
}

/** Whether a listing shows `Sealed`. Recorded from Azure: only append blobs have it. */
export function isSealed({ type, sealed }: BlobRecord): boolean {
  return type === "AppendBlob" && sealed === true;
}

/** Whole days until a soft-deleted entry can no longer be restored. */
export function remainingDays({ at, retentionDays }: Deletion, now: Ticks): number {
  const goneDays = Number((now - at) / ticksPerDay);
  return Math.max(0, retentionDays - goneDays);
}

export function tagCountOf({ tags }: BlobRecord): number | undefined {
  const count = tags === undefined ? 0 : Object.keys(tags).length;
  return count === 0 ? undefined : count;
}

/** Which properties a listing shows of each entry: those that the request includes, and those of
 *  the account's features. */
export interface EntryOptions {
  readonly now: Ticks;
  readonly metadata: boolean;
  readonly copy: boolean;
  readonly tags: boolean;
  readonly versions: boolean;
  readonly immutability: boolean;
  readonly legalHold: boolean;
  /** Whether the account has a hierarchical namespace. */
  readonly hierarchical: boolean;
  readonly permissions: boolean;
  readonly features: Features;
}

/** The XML element of a listing entry: a blob, uncommitted blocks or a prefix of names. */
export function renderEntry(entry: ListEntry, options: EntryOptions): string {
  switch (entry.kind) {
    case "prefix":
      return element("BlobPrefix", nameElement("Name", entry.name) + propertiesOf(entry, options));
    case "uncommitted":
      return element("Blob", nameElement("Name", entry.name) + uncommittedProperties);
    case "blob":
      return renderBlob(entry, options);
    default:
      return entry satisfies never;
  }
}

/** The properties of a prefix. Only on hierarchical accounts it is a directory, which has some. */
function propertiesOf({ record }: { readonly record?: BlobRecord }, options: EntryOptions): string {
  return record === undefined ? "" : element("Properties", renderProperties(record, options));
}

/** The properties of a blob with uncommitted blocks only: it has neither dates nor an ETag yet. */
const uncommittedProperties = element(
  "Properties",
  textElement("Content-Length", 0) +
    textElement("BlobType", "BlockBlob") +
    textElement("AccessTier", defaultTier) +
    textElement("AccessTierInferred", "true") +
    textElement("LeaseStatus", "unlocked") +
    textElement("LeaseState", "available") +
    textElement("ServerEncrypted", "true"),
);

function renderBlob(entry: Extract<ListEntry, { kind: "blob" }>, options: EntryOptions): string {
  const { name, record, versionsOnly } = entry;
  const { snapshot, deleted } = record;
  const versionId = versionIdOf(record);
  const metadata = options.metadata ? metadataElement(record.metadata) : "";
  const tags = options.tags && record.tags !== undefined ? renderTags(record.tags) : "";
  return element(
    "Blob",
    nameElement("Name", name) +
      textElement("VersionId", versionId === undefined ? undefined : formatIso(versionId)) +
      textElement("IsCurrentVersion", isCurrentVersion(record) ? "true" : undefined) +
      textElement("HasVersionsOnly", versionsOnly === true ? "true" : undefined) +
      textElement("Snapshot", snapshot === undefined ? undefined : formatIso(snapshot)) +
      (deleted && options.hierarchical ? deletionIdElement(deleted) : "") +
      textElement("Deleted", deleted === undefined ? undefined : "true") +
      element("Properties", renderProperties(record, options)) +
      metadata +
      tags +
      "<OrMetadata />",
  );
}

/** Renders the properties in the order of the service; content headers that are not set are empty
 *  elements. */
function renderProperties(record: BlobRecord, options: EntryOptions): string {
  const { now, copy, features } = options;
  const { headers } = record;
  const accessed = lastAccess(record, features);
  const md5 = headers.contentMd5;
  return (
    plainElement("Creation-Time", formatHttpDate(record.created)) +
    plainElement("Last-Modified", formatHttpDate(record.etag)) +
    plainElement("Etag", bareETag(record.etag)) +
    (options.hierarchical ? pathElements(record, options.permissions) : "") +
    plainElement("Content-Length", record.content.length) +
    textElement("Content-Type", contentTypeOf(headers)) +
    headerElement("Content-Encoding", headers.contentEncoding) +
    headerElement("Content-Language", headers.contentLanguage) +
    "<Content-CRC64 />" +
    (md5 === undefined ? "<Content-MD5 />" : plainElement("Content-MD5", encodeBase64(md5))) +
    headerElement("Cache-Control", headers.cacheControl) +
    headerElement("Content-Disposition", headers.contentDisposition) +
    (accessed === undefined ? "" : plainElement("LastAccessTime", formatHttpDate(accessed))) +
    sequenceElement(record) +
    plainElement("BlobType", record.type) +
    renderTier(afterRehydration(record, now)) +
    renderLease(record, now) +
    (copy ? copyElements(record) : "") +
    "<ServerEncrypted>true</ServerEncrypted>" +
    (isSealed(record) ? "<Sealed>true</Sealed>" : "") +
    expiryElement(record, options) +
    renderDeletion(record, now) +
    textElement("CustomerProvidedKeySha256", record.keySha256 && encodeBase64(record.keySha256)) +
    textElement("EncryptionScope", record.encryptionScope) +
    textElement("TagCount", tagCountOf(record)) +
    renderProtection(record, options)
  );
}

/** `Expiry-Time`. Recorded from Azure: for a deleted path it is the end of its retention. */
function expiryElement({ expiresAt, deleted }: BlobRecord, options: EntryOptions): string {
  const ends = options.hierarchical && deleted ? retentionEnds(deleted) : expiresAt;
  return textElement("Expiry-Time", ends && formatHttpDate(ends));
}

function headerElement(name: string, value: string | undefined): string {
  return value === undefined ? `<${name} />` : textElement(name, value);
}

function renderProtection(record: BlobRecord, { immutability, legalHold }: EntryOptions): string {
  if (!immutability && !legalHold) return "";
  const headers = protectionHeaders(record);
  const until = headers["x-ms-immutability-policy-until-date"];
  const mode = headers["x-ms-immutability-policy-mode"];
  return (
    textElement("ImmutabilityPolicyUntilDate", immutability ? until : undefined) +
    textElement("ImmutabilityPolicyMode", immutability ? mode : undefined) +
    textElement("LegalHold", legalHold ? headers["x-ms-legal-hold"] : undefined)
  );
}

function sequenceElement({ type, sequenceNumber = 0n }: BlobRecord): string {
  return type === "PageBlob" ? textElement("x-ms-blob-sequence-number", sequenceNumber) : "";
}

const inferredTier =
  plainElement("AccessTier", defaultTier) + plainElement("AccessTierInferred", "true");

function renderTier(record: BlobRecord): string {
  if (record.tier === undefined) return record.type === "BlockBlob" ? inferredTier : "";
  const headers = tierHeaders(record);
  return (
    textElement("AccessTier", headers["x-ms-access-tier"]) +
    textElement("AccessTierInferred", headers["x-ms-access-tier-inferred"]) +
    textElement("ArchiveStatus", headers["x-ms-archive-status"]) +
    textElement("RehydratePriority", headers["x-ms-rehydrate-priority"]) +
    textElement("AccessTierChangeTime", headers["x-ms-access-tier-change-time"]) +
    textElement("SmartAccessTier", headers["x-ms-smart-access-tier"])
  );
}

function renderLease(record: BlobRecord, now: Ticks): string {
  const lease = leaseOf(record, now);
  if (lease === undefined) return "";
  return (
    plainElement("LeaseStatus", lease.status) +
    plainElement("LeaseState", lease.state) +
    textElement("LeaseDuration", lease.duration)
  );
}

function deletionIdElement({ at }: Deletion): string {
  return plainElement("DeletionId", formatDeletionId(at));
}

function renderDeletion({ deleted }: BlobRecord, now: Ticks): string {
  if (deleted === undefined) return "";
  return (
    textElement("DeletedTime", formatHttpDate(deleted.at)) +
    textElement("RemainingRetentionDays", remainingDays(deleted, now))
  );
}

export function renderTags(tags: Tags): string {
  let inner = "";
  for (const key of Object.keys(tags).toSorted()) {
    inner += element("Tag", textElement("Key", key) + textElement("Value", tags[key]));
  }
  return element("Tags", element("TagSet", inner));
}
