import { softDeletePeriod } from "../account/deleted-names.ts";
import { eventLog, eventLogTrims } from "../account/event-log.ts";
import { leaseEntries } from "../account/held-leases.ts";
import type { BytesSource, ContentRef } from "../content/content-ref.ts";
import type { Lease } from "../protocol/lease.ts";
import { metadataBytes, type Metadata, type HttpHeaders } from "../protocol/metadata.ts";
import type { PosixAccess } from "../protocol/posix-acl.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import {
  containerNameEntries,
  directoryNameEntries,
  holdEntries,
  indexTables,
  tagEntries,
} from "./indexes.ts";
import { feedStates } from "./change-feed/feed-records.ts";
import { uncommittedLifetimeDays } from "./shared/limits.ts";
import {
  anyTable,
  archivedRecord,
  defineCounter,
  defineTable,
  type AnyTable,
  recordCodec,
  withDecodeCache,
} from "../encoding/table.ts";
import type { Tags } from "../protocol/tags.ts";
import { ticksPerDay, type Ticks } from "../base/ticks.ts";
import type { ClearedRange } from "./page/cleared-ranges.ts";
import { checkProtection } from "./protection/protection.ts";

/** The stored records and tables of the Blob service: containers, blobs, their generations
 *  (snapshots, versions and soft-deleted states), and uncommitted blocks. */

/** Whether a blob has expired (Set Blob Expiry) and must be treated as absent; a reclaim job, which
 *  runs in the background, removes its record later. A legal hold or immutability policy defers the
 *  expiry. */
export function isExpired(record: BlobRecord, now: Ticks): boolean {
  const { expiresAt } = record;
  return expiresAt !== undefined && expiresAt <= now && checkProtection(record, now).ok;
}

/** The bytes of a blob, or of a snapshot, version or soft-deleted state of it, that count against
 *  the quota of its account. A page blob counts with its full size, as Azure charges a disk. States
 *  that share content count it each. */
export function blobBytes({ content, metadata }: BlobRecord): number {
  return content.length + metadataBytes(metadata);
}

/** The bytes of unflushed Data Lake appends in the upload record itself (`inline`), for the quota
 *  of the account. Appends in the table `blocks` are counted there. */
export function uploadBytes({ inline = [] }: UploadRecord): number {
  return inline.reduce((sum, { source }) => sum + source.bytes.length, 0);
}

type PublicAccess = "container" | "blob";
export type BlobType = "BlockBlob" | "AppendBlob" | "PageBlob";

export interface ContainerRecord {
  /** Part of the keys of the container's blobs, so that deleting or renaming the container changes
   *  only this record. */
  readonly id: bigint;
  readonly etag: Ticks;
  readonly lease?: Lease | undefined;
  readonly metadata: Metadata;
  readonly publicAccess?: PublicAccess | undefined;
  readonly policies: readonly StoredPolicy[];
  readonly defaultEncryptionScope?: string | undefined;
  readonly denyEncryptionScopeOverride?: boolean | undefined;
}

/** A soft-deleted container, which Restore Container can restore for `retentionDays`. */
export interface DeletedContainerRecord extends ContainerRecord {
  readonly deletedAt: Ticks;
  readonly retentionDays: number;
}

/** A blob (in the table `blobs`), or a generation of it (in `generations`): a snapshot, an earlier
 *  version or a soft-deleted state, with `snapshot`, `superseded` or `deleted` set. */
export interface BlobRecord {
  // Time of the last change (Last-Modified), of which the ETag is made.
  readonly etag: Ticks;
  readonly created: Ticks;
  readonly type: BlobType;
  readonly content: ContentRef;
  readonly headers: HttpHeaders;
  readonly metadata: Metadata;
  readonly lease?: Lease | undefined;
  readonly tags?: Tags | undefined;
  readonly tier?: string | undefined;
  readonly tierChanged?: Ticks | undefined;
  /** Version id: when this state was written. Undefined if versioning was off then. */
  readonly versionId?: Ticks | undefined;
  /** Set on earlier versions: states that a later write replaced, or that were deleted. */
  readonly superseded?: true | undefined;
  /** Time of the snapshot; undefined if the record is no snapshot. */
  readonly snapshot?: Ticks | undefined;
  // Set while the state is soft-deleted: it can be restored, but not read.
  readonly deleted?: Deletion | undefined;
  /** Page blobs: the sequence number that clients use for conditional writes; undefined means 0. */
  readonly sequenceNumber?: bigint | undefined;
  /** Page blobs: ETag of the creation. Get Page Ranges Diff compares it with that of the earlier
   *  snapshot, and fails if the blob was created again since. */
  readonly lineage?: Ticks | undefined;
  /** Page blobs: pages that were cleared, for Get Page Ranges Diff (`page/cleared-ranges.ts`). */
  readonly cleared?: readonly ClearedRange[] | undefined;
  /** Append blobs: number of appended blocks, which Azure limits to 50,000. */
  readonly committedBlockCount?: number | undefined;
  /** Append blobs: whether the blob is sealed and accepts no further appends. */
  readonly sealed?: true | undefined;
  readonly copy?: CopyState | undefined;
  /** Set on the target of incremental copies, of which clients can read only the snapshots. */
  readonly incrementalCopy?: true | undefined;
  /** When the blob expires (Set Blob Expiry); undefined: never. */
  readonly expiresAt?: Ticks | undefined;
  readonly encryptionScope?: string | undefined;
  /** SHA-256 of the customer-provided key with which the content is encrypted; undefined without
   *  one. */
  readonly keySha256?: Uint8Array | undefined;
  /** The pending change of an archived blob to a readable tier; undefined without one. */
  readonly rehydration?: Rehydration | undefined;
  readonly immutability?: ImmutabilityPolicy | undefined;
  readonly legalHold?: boolean | undefined;
  /** Time of the last read, updated at most once a day; undefined if not tracked. */
  readonly lastAccess?: Ticks | undefined;
  /** Directories of hierarchical accounts: the id by which their entries are keyed. Undefined for
   *  files. */
  readonly directory?: bigint | undefined;
  /** Hierarchical accounts: owner, group and access control list; undefined for the defaults. */
  readonly posix?: PosixAccess | undefined;
  readonly encryptionContext?: string | undefined;
  /** Set if the Data Lake API wrote the content: blocks of the Blob API cannot be added to it. */
  readonly writtenBy?: "dfs" | undefined;
  /** An id by which a client recognises its own create or rename if it did not get the response. */
  readonly transactionId?: string | undefined;
}

/** A pending change from the tier Archive, which takes hours, as in Azure. */
export interface Rehydration {
  readonly to: string;
  /** From this time on the blob has the tier `to`. */
  readonly due: Ticks;
  readonly priority: "High" | "Standard";
}

export interface ImmutabilityPolicy {
  readonly until: Ticks;
  readonly mode: "unlocked" | "locked";
}

export interface CopyState {
  readonly id: string;
  /** URL of the source without the signature. */
  readonly source: string;
  readonly status: "pending" | "success" | "aborted" | "failed";
  readonly copiedBytes: number;
  readonly totalBytes: number;
  readonly completed?: Ticks | undefined;
  /** Why the copy failed, for the header `x-ms-copy-status-description`. */
  readonly description?: string | undefined;
  /** Incremental copies: the snapshot that was taken of the target. */
  readonly destinationSnapshot?: Ticks | undefined;
}

/** When a blob was soft-deleted, and for how long it can be restored. */
export interface Deletion {
  readonly at: Ticks;
  readonly retentionDays: number;
}

/** The upload of a blob: its uncommitted blocks. The table `blocks` has a record for each block. */
export interface UploadRecord {
  readonly id: bigint;
  /** Length of the block ids in Base64, which must be the same for all ids of an upload; 0 for data
   *  that the Data Lake API appended. */
  readonly blockIdLength: number;
  /** Time of the last Put Block, to the hour. The upload ends a week later. */
  readonly touched: Ticks;
  /** Small data that the Data Lake API appended, stored here to save records in `blocks`; undefined
   *  if `blocks` has all of it. */
  readonly inline?: readonly InlineAppend[] | undefined;
  /** Set if there is data in `blocks` beside `inline`. */
  readonly hasBlocks?: true | undefined;
  /** The lease of a blob that has only these blocks; the blob that they become takes it over. */
  readonly lease?: Lease | undefined;
}

/** Data that the Data Lake API has appended to a file and no flush has committed yet. */
export interface InlineAppend {
  /** Orders appends by position, then by arrival, as ids of appended blocks do (`appendedId`). */
  readonly id: string;
  readonly position: number;
  readonly source: BytesSource;
}

interface BlockRecord {
  readonly content: ContentRef;
  readonly keySha256?: Uint8Array | undefined;
  /** The encryption scope; undefined without one, and in blocks that earlier releases of this
   *  server wrote. */
  readonly encryptionScope?: string | undefined;
  /** For data that the Data Lake API appended: its position in the file. Undefined for blocks. */
  readonly position?: number | undefined;
}

/** The key of a blob. On hierarchical accounts `container` is the id of the directory that the blob
 *  is in (for the root directory: of the container), and `name` the last name of its path. */
export interface BlobKey {
  readonly container: bigint;
  readonly name: string;
}

/** The key of a generation (a snapshot, an earlier version or a soft-deleted state): `at` is the
 *  time of the snapshot, version or deletion. */
export interface GenerationKey extends BlobKey {
  readonly at: Ticks;
  readonly kind: (typeof generationKinds)[number];
}

const headersShape = {
  contentType: true,
  contentMd5: true,
  contentEncoding: true,
  contentLanguage: true,
  cacheControl: true,
  contentDisposition: true,
} as const;

/** Fields are stored by position, up to the last one that a record has: those that nearly every
 *  blob has come first, which keeps records short. A new field is appended. */
const blobCodec = recordCodec<BlobRecord>({
  version: 2,
  migrate: { 1: (record) => record },
  shape: {
    etag: true,
    created: true,
    type: true,
    content: true,
    headers: headersShape,
    metadata: true,
    tier: true,
    tierChanged: true,
    lease: true,
    tags: true,
    versionId: true,
    superseded: true,
    snapshot: true,
    deleted: true,
    sequenceNumber: true,
    lineage: true,
    committedBlockCount: true,
    sealed: true,
    copy: true,
    incrementalCopy: true,
    expiresAt: true,
    encryptionScope: true,
    keySha256: true,
    rehydration: true,
    immutability: true,
    legalHold: true,
    lastAccess: true,
    directory: true,
    posix: true,
    encryptionContext: true,
    writtenBy: true,
    transactionId: true,
    cleared: true,
  },
});

/** The time from which on a soft-deleted blob can no longer be restored. */
export function retentionEnds({ at, retentionDays }: Deletion): Ticks {
  return at + BigInt(retentionDays) * ticksPerDay;
}

export const containers = defineTable<{ account: bigint; name: string }, ContainerRecord>({
  name: "containers",
  tag: 0x20,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<ContainerRecord>({ version: 1 })),
  owner: "account",
  ...archivedRecord,
  defines: { id: "container" },
  hasLease: true,
  indexes: ({ id, lease }, parts) => [
    ...containerNameEntries(id, parts()),
    ...leaseEntries("container", lease, parts),
  ],
});

export const deletedContainers = defineTable<
  { account: bigint; name: string; version: Ticks },
  DeletedContainerRecord
>({
  name: "deleted-containers",
  tag: 0x21,
  key: ({ account, name, version }) => [account, name, version],
  codec: recordCodec<DeletedContainerRecord>({ version: 1 }),
  owner: "account",
  ...archivedRecord,
  defines: { id: "container" },
  hasLease: true,
  period: softDeletePeriod("blob-deleted-container"),
});

export const blobs = defineTable<BlobKey, BlobRecord>({
  name: "blobs",
  tag: 0x22,
  key: ({ container, name }) => [container, name],
  codec: blobCodec,
  owner: "container",
  ...archivedRecord,
  defines: { directory: "container" },
  hasLease: true,
  content: "content",
  countedBytes: blobBytes,
  indexes: (record, parts) => [
    ...tagEntries(record, parts),
    ...holdEntries(record, parts),
    ...directoryNameEntries(record, parts),
    ...leaseEntries("blob", record.lease, parts),
  ],
  period: {
    jobKinds: ["blob-expiry"],
    scopeOf: ([container, name]) => [container as bigint, name as string],
    ends: ({ expiresAt }) => expiresAt,
    // A job for an expired blob that a legal hold or immutability policy keeps runs again once a
    // day: a hold has no end time.
    postponedTo: (record, now) => (isExpired(record, now) ? undefined : now + ticksPerDay),
    keyPartsOf: (scope) => scope,
  },
});

/** Kinds of generations. The position in this list is a part of stored keys, so the order must not
 *  change. */
export const generationKinds = ["version", "snapshot", "deleted"] as const;

/** Generations: snapshots, earlier versions and soft-deleted states, by name, then oldest first.
 *  They are in a table of their own, so that a plain listing need not skip them. */
export const generations = defineTable<GenerationKey, BlobRecord>({
  name: "generations",
  tag: 0x23,
  key: ({ container, name, at, kind }) => [container, name, at, generationKinds.indexOf(kind)],
  codec: blobCodec,
  owner: "container",
  ...archivedRecord,
  defines: { directory: "container" },
  hasLease: true,
  earlierStateOf: { table: anyTable(blobs), keyParts: 2 },
  content: "content",
  countedBytes: blobBytes,
  indexes: holdEntries,
  period: {
    jobKinds: ["blob-generation"],
    scopeOf: ([container, name, at, kind]) => [
      container as bigint,
      name as string,
      at as bigint,
      generationKinds[kind as number] ?? "version",
    ],
    ends: ({ deleted }) => deleted && retentionEnds(deleted),
    keyPartsOf: ([container, name, at, kind]) => [
      container as bigint,
      name as string,
      at as bigint,
      generationKinds.indexOf(kind as GenerationKey["kind"]),
    ],
  },
});

// An upload is the set of the uncommitted blocks of one blob. It ends a week after its last block.
const uploadLifetime = BigInt(uncommittedLifetimeDays) * ticksPerDay;

export function uploadEnds({ touched }: UploadRecord): Ticks {
  return touched + uploadLifetime;
}

export const uploads = defineTable<BlobKey, UploadRecord>({
  name: "uploads",
  tag: 0x24,
  key: ({ container, name }) => [container, name],
  codec: recordCodec<UploadRecord>({ version: 1 }),
  owner: "container",
  ...archivedRecord,
  defines: { id: "upload" },
  hasLease: true,
  countedBytes: uploadBytes,
  // Uploads of data that the Data Lake API appended have another job: one for all that were opened
  // in one directory within an hour (`blob-uploads`).
  period: {
    jobKinds: ["blob-upload"],
    scopeOf: ([container, name], { id }) => [container as bigint, name as string, id],
    ends: uploadEnds,
    keyPartsOf: ([container, name]) => [container as bigint, name as string],
    isFor: ({ id }, [, , upload]) => id === upload,
  },
});

/** Number of uncommitted blocks of an upload, which Azure limits to 100,000. */
export const blockCount = defineCounter({
  name: "blocks of upload",
  tag: 0x26,
  owner: "upload",
  isSum: true,
});

export const blocks = defineTable<{ upload: bigint; id: string }, BlockRecord>({
  name: "blocks",
  tag: 0x25,
  key: ({ upload, id }) => [upload, id],
  codec: recordCodec<BlockRecord>({ version: 1 }),
  owner: "upload",
  ...archivedRecord,
  counters: [{ counter: blockCount, of: () => 1n }],
  content: "content",
  countedBytes: ({ content }) => content.length,
});

/** All tables of the Blob service. Reclaim jobs, which remove what a deleted account, container or
 *  upload owned, empty them in this order. */
export const blobTables: readonly AnyTable[] = [
  anyTable(containers),
  anyTable(deletedContainers),
  anyTable(blobs),
  anyTable(generations),
  anyTable(uploads),
  anyTable(blocks),
  // The event log, which has the events of all services, is removed together with the blobs of an
  // account.
  anyTable(eventLog),
  anyTable(eventLogTrims),
  anyTable(feedStates),
  ...indexTables,
];
