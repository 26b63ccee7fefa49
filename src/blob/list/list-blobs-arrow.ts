import { arrowStreamType, writeArrowStream } from "../../encoding/arrow/stream.ts";
import { formatMarker, nameText } from "../../operation/listing.ts";
import { largeListing } from "../../operation/operation.ts";
import { query } from "../../protocol/params.ts";
import { isHierarchical, operation } from "../resources.ts";
import { listTree } from "../tree/list-tree.ts";
import { checkList, entryOptions, listParams, selectionOf } from "./list-blobs.ts";
import { scanBlobs, type ListEntry } from "./scan-blobs.ts";
import type { Row } from "../../encoding/arrow/columns.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { formatIso } from "../../base/dates.ts";
import { bareETag } from "../../protocol/conditions.ts";
import { ticksPerSecond, unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import { lastAccess } from "../read/blob-properties.ts";
import type { BlobRecord } from "../records.ts";
import { contentTypeOf } from "../shared/create-blob.ts";
import { afterRehydration, defaultTier, tierHeaders } from "../tier/rehydration.ts";
import {
  isCurrentVersion,
  isSealed,
  leaseOf,
  remainingDays,
  tagCountOf,
  versionIdOf,
  type EntryOptions,
} from "./blob-entry.ts";

/** List Blobs in Apache Arrow format: the entries of `list-blobs.ts`, as columns instead of XML,
 *  which newer clients request. */

/** Names and types of the columns that the official clients expect. Some clients fail on an unknown
 *  name, on times that are not in seconds, and on any other spelling of `blobprefix` (the row of a
 *  prefix). */
export const blobColumns = {
  Name: "text",
  ResourceType: "text",
  Deleted: "boolean",
  Snapshot: "text",
  VersionId: "text",
  IsCurrentVersion: "boolean",
  HasVersionsOnly: "boolean",
  "Creation-Time": "seconds",
  "Last-Modified": "seconds",
  Etag: "text",
  "Content-Length": "uint64",
  "Content-Type": "text",
  "Content-Encoding": "text",
  "Content-Language": "text",
  "Content-MD5": "text",
  "Cache-Control": "text",
  "Content-Disposition": "text",
  LastAccessTime: "seconds",
  "x-ms-blob-sequence-number": "uint64",
  BlobType: "text",
  AccessTier: "text",
  AccessTierInferred: "boolean",
  ArchiveStatus: "text",
  RehydratePriority: "text",
  AccessTierChangeTime: "seconds",
  SmartAccessTier: "text",
  LeaseStatus: "text",
  LeaseState: "text",
  LeaseDuration: "text",
  CopyId: "text",
  CopySource: "text",
  CopyStatus: "text",
  CopyProgress: "text",
  CopyCompletionTime: "seconds",
  CopyStatusDescription: "text",
  IncrementalCopy: "boolean",
  CopyDestinationSnapshot: "text",
  ServerEncrypted: "boolean",
  Sealed: "boolean",
  "Expiry-Time": "seconds",
  DeletedTime: "seconds",
  RemainingRetentionDays: "uint64",
  CustomerProvidedKeySha256: "text",
  EncryptionScope: "text",
  TagCount: "uint64",
  ImmutabilityPolicyUntilDate: "seconds",
  ImmutabilityPolicyMode: "text",
  LegalHold: "boolean",
  Metadata: "map",
  Tags: "map",
} as const;

type BlobRow = Row<typeof blobColumns>;

export function arrowRow(entry: ListEntry, options: EntryOptions): BlobRow {
  switch (entry.kind) {
    case "prefix":
      return { Name: entry.name, ResourceType: "blobprefix" };
    case "uncommitted":
      return { Name: entry.name, ...uncommittedCells };
    case "blob":
      return blobRow(entry, options);
    default:
      return entry satisfies never;
  }
}

/** The cells of a blob that has only uncommitted blocks: it has neither dates nor an ETag yet. */
const uncommittedCells: BlobRow = {
  "Content-Length": 0,
  BlobType: "BlockBlob",
  AccessTier: defaultTier,
  AccessTierInferred: true,
  LeaseStatus: "unlocked",
  LeaseState: "available",
  ServerEncrypted: true,
};

function blobRow(entry: Extract<ListEntry, { kind: "blob" }>, options: EntryOptions): BlobRow {
  const { name, record, versionsOnly } = entry;
  return {
    Name: name,
    Deleted: trueOrAbsent(record.deleted !== undefined),
    Snapshot: isoTime(record.snapshot),
    VersionId: isoTime(versionIdOf(record)),
    IsCurrentVersion: trueOrAbsent(isCurrentVersion(record)),
    HasVersionsOnly: versionsOnly,
    "Creation-Time": seconds(record.created),
    "Last-Modified": seconds(record.etag),
    Etag: bareETag(record.etag),
    "Content-Length": record.content.length,
    ...headerCells(record),
    LastAccessTime: seconds(lastAccess(record, options.features)),
    "x-ms-blob-sequence-number":
      record.type === "PageBlob" ? (record.sequenceNumber ?? 0n) : undefined,
    BlobType: record.type,
    ...tierCells(afterRehydration(record, options.now)),
    ...leaseCells(record, options.now),
    ...(options.copy ? copyCells(record) : undefined),
    ServerEncrypted: true,
    Sealed: trueOrAbsent(isSealed(record)),
    "Expiry-Time": seconds(record.expiresAt),
    DeletedTime: seconds(record.deleted?.at),
    RemainingRetentionDays: record.deleted && remainingDays(record.deleted, options.now),
    CustomerProvidedKeySha256: record.keySha256 && encodeBase64(record.keySha256),
    EncryptionScope: record.encryptionScope,
    TagCount: tagCountOf(record),
    ...protectionCells(record, options),
    Metadata: options.metadata ? record.metadata : undefined,
    Tags: options.tags && record.tags !== undefined ? Object.entries(record.tags) : undefined,
  };
}

function headerCells({ headers }: BlobRecord): BlobRow {
  return {
    "Content-Type": contentTypeOf(headers),
    "Content-Encoding": headers.contentEncoding,
    "Content-Language": headers.contentLanguage,
    "Content-MD5": headers.contentMd5 && encodeBase64(headers.contentMd5),
    "Cache-Control": headers.cacheControl,
    "Content-Disposition": headers.contentDisposition,
  };
}

function tierCells(record: BlobRecord): BlobRow {
  const headers = tierHeaders(record);
  return {
    AccessTier: headers["x-ms-access-tier"],
    AccessTierInferred: trueOrAbsent(headers["x-ms-access-tier-inferred"] === "true"),
    ArchiveStatus: headers["x-ms-archive-status"],
    RehydratePriority: headers["x-ms-rehydrate-priority"],
    AccessTierChangeTime: seconds(record.tier === undefined ? undefined : record.tierChanged),
    SmartAccessTier: headers["x-ms-smart-access-tier"],
  };
}

function leaseCells(record: BlobRecord, now: Ticks): BlobRow | undefined {
  const lease = leaseOf(record, now);
  if (lease === undefined) return undefined;
  return {
    LeaseStatus: lease.status,
    LeaseState: lease.state,
    LeaseDuration: lease.duration,
  };
}

function copyCells({ copy, incrementalCopy }: BlobRecord): BlobRow | undefined {
  if (copy === undefined) return undefined;
  return {
    CopyId: copy.id,
    CopySource: copy.source,
    CopyStatus: copy.status,
    CopyProgress: `${copy.copiedBytes}/${copy.totalBytes}`,
    CopyCompletionTime: seconds(copy.completed),
    CopyStatusDescription: copy.description,
    IncrementalCopy: incrementalCopy,
    CopyDestinationSnapshot: isoTime(copy.destinationSnapshot),
  };
}

function protectionCells(record: BlobRecord, { immutability, legalHold }: EntryOptions): BlobRow {
  const policy = immutability ? record.immutability : undefined;
  return {
    ImmutabilityPolicyUntilDate: seconds(policy?.until),
    ImmutabilityPolicyMode: policy?.mode,
    LegalHold: legalHold ? record.legalHold : undefined,
  };
}

/** Booleans that are false become null cells, because XML listings omit them. */
function trueOrAbsent(isSo: boolean): true | undefined {
  return isSo ? true : undefined;
}

function isoTime(ticks: Ticks | undefined): string | undefined {
  return ticks === undefined ? undefined : formatIso(ticks);
}

function seconds(ticks: Ticks | undefined): bigint | undefined {
  return ticks === undefined ? undefined : (ticks - unixEpochTicks) / ticksPerSecond;
}

/** `endbefore`: the listing ends before this name. */
const endBefore = query("endbefore", nameText);

/** List Blobs in Arrow format. The metadata of the Arrow schema contains the continuation; prefixes
 *  are rows. learn.microsoft.com/rest/api/storageservices/list-blobs */
export const listBlobsArrow = operation({
  name: "List Blobs (Apache Arrow)",
  ids: [
    "Container_ListBlobFlatSegmentApacheArrow",
    "Container_ListBlobHierarchySegmentApacheArrow",
  ],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "list" },
    accepts: arrowStreamType,
  },
  since: "2026-10-06",
  params: { ...listParams, endBefore },
  permission: { letters: "l", resourceType: "c", publicRead: "container", posix: {} },
  ...largeListing,
  reads: async (view, { target, input, now, features, scope, aclCaller }) => {
    const options = entryOptions(input, { now, features, scope });
    const all = selectionOf(target.id, input, aclCaller);
    const selection = { ...all, endBefore: input.endBefore };
    const rows: BlobRow[] = [];
    const emit = (entry: ListEntry) => void rows.push(arrowRow(entry, options));
    const scan = isHierarchical(scope) ? listTree : scanBlobs;
    const { next, isDenied } = await scan(view, selection, emit);
    const metadata = {
      NextMarker: next === undefined ? "" : formatMarker(next),
      NumberOfRecords: String(rows.length),
    };
    const required = ["Name"] as const;
    const bytes = await writeArrowStream(view.loop, {
      columns: blobColumns,
      required,
      rows,
      metadata,
    });
    return { bytes, isDenied };
  },
  decide: ({ input, readResult: { bytes, isDenied }, scope }) => {
    const allowed = checkList(input, scope, isDenied);
    if (!allowed.ok) return allowed;
    return { body: { type: arrowStreamType, bytes } };
  },
});
