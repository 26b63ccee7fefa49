import { leaseEntries } from "../account/held-leases.ts";
import type { BytesSource, ContentRef } from "../content/content-ref.ts";
import type { Lease } from "../protocol/lease.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { PosixAccess } from "../protocol/posix-acl.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import { containerNameEntries, holdEntries, tagEntries } from "./indexes.ts";
import { defineTable } from "../encoding/table.ts";
import type { Tags } from "../protocol/tags.ts";
import type { Ticks } from "../base/ticks.ts";

export type PublicAccess = "container" | "blob";
export type BlobType = "BlockBlob" | "AppendBlob" | "PageBlob";

export interface ContainerRecord {
  /** Part of the keys of its blobs, so that deleting or renaming changes only this record. */
  readonly id: bigint;
  readonly etag: Ticks;
  readonly lease?: Lease | undefined;
  readonly metadata: Metadata;
  readonly publicAccess?: PublicAccess | undefined;
  readonly policies: readonly StoredPolicy[];
  readonly defaultEncryptionScope?: string | undefined;
  readonly denyEncryptionScopeOverride?: boolean | undefined;
}

/** A soft-deleted container. */
export interface DeletedContainerRecord extends ContainerRecord {
  readonly deletedAt: Ticks;
  readonly retentionDays: number;
}

export interface HttpHeaders {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly contentLanguage?: string | undefined;
  readonly contentMd5?: Uint8Array | undefined;
  readonly cacheControl?: string | undefined;
  readonly contentDisposition?: string | undefined;
}

/** A blob (in `blobs`), or a snapshot, earlier version or soft-deleted state (in `generations`),
 *  with `snapshot`, `superseded` or `deleted` set. */
export interface BlobRecord {
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
  /** Version id; undefined without versioning. */
  readonly versionId?: Ticks | undefined;
  /** Set on earlier versions. */
  readonly superseded?: true | undefined;
  /** Time of the snapshot; set on snapshots only. */
  readonly snapshot?: Ticks | undefined;
  readonly deleted?: Deletion | undefined;
  /** Page blobs: the sequence number that clients use for conditional writes; undefined means 0. */
  readonly sequenceNumber?: bigint | undefined;
  /** Page blobs: ETag value of the creation. A diff fails if the blob was created anew since. */
  readonly lineage?: Ticks | undefined;
  /** Append blobs: number of appended blocks. */
  readonly committedBlockCount?: number | undefined;
  /** Append blobs: sealed, no further appends. */
  readonly sealed?: true | undefined;
  /** The last copy onto this blob. */
  readonly copy?: CopyState | undefined;
  /** Target of incremental copies: clients can read only its snapshots. */
  readonly incrementalCopy?: true | undefined;
  /** Expiry time (Set Blob Expiry). */
  readonly expiresAt?: Ticks | undefined;
  readonly encryptionScope?: string | undefined;
  /** SHA-256 of the client's key that the content is encrypted with. */
  readonly keySha256?: Uint8Array | undefined;
  /** Pending rehydration of an archived blob. */
  readonly rehydration?: Rehydration | undefined;
  readonly immutability?: ImmutabilityPolicy | undefined;
  readonly legalHold?: boolean | undefined;
  /** Time of the last read, updated at most once a day; undefined if not tracked. */
  readonly lastAccess?: Ticks | undefined;
  /** Directories of hierarchical accounts: the id that their entries are keyed by. */
  readonly directory?: bigint | undefined;
  /** On hierarchical accounts: owner, group and access control list; absent on a file or directory
   *  that has the defaults. */
  readonly posix?: PosixAccess | undefined;
  readonly encryptionContext?: string | undefined;
  /** The API that wrote the content, if it was the Data Lake API: blocks of the other API cannot be
   *  added to it. */
  readonly writtenBy?: "dfs" | undefined;
  /** By which a client recognises a create or a rename of its own whose reply it did not get. */
  readonly transactionId?: string | undefined;
}

export interface Rehydration {
  readonly to: string;
  /** Time from which the blob has the tier `to`. */
  readonly due: Ticks;
  readonly priority: "High" | "Standard";
}

export interface ImmutabilityPolicy {
  readonly until: Ticks;
  readonly mode: "unlocked" | "locked";
}

export interface CopyState {
  readonly id: string;
  /** URL without the SAS. */
  readonly source: string;
  readonly status: "pending" | "success" | "aborted" | "failed";
  readonly copiedBytes: number;
  readonly totalBytes: number;
  readonly completed?: Ticks | undefined;
  /** Why it failed. */
  readonly description?: string | undefined;
  /** Incremental copy: the snapshot of the target. */
  readonly destinationSnapshot?: Ticks | undefined;
}

export interface Deletion {
  readonly at: Ticks;
  readonly retentionDays: number;
}

/** The uncommitted blocks of a blob; `blocks` has one record for each. */
export interface UploadRecord {
  readonly id: bigint;
  /** Length of each block id in Base64; all ids of an upload must have the same. */
  readonly blockIdLength: number;
  /** Time of the last Put Block, to the hour. The blocks expire a week later. */
  readonly touched: Ticks;
  /** Small appended data, which costs no record of its own; undefined if `blocks` has all of it. */
  readonly inline?: readonly InlineAppend[] | undefined;
  /** Beside `inline` there is data in `blocks`. */
  readonly hasBlocks?: true | undefined;
}

/** Data that was appended and not flushed. */
export interface InlineAppend {
  /** As the id of a block with appended data. */
  readonly id: string;
  readonly position: number;
  readonly source: BytesSource;
}

export interface BlockRecord {
  readonly content: ContentRef;
  readonly keySha256?: Uint8Array | undefined;
  /** Data that was appended and not flushed: where in the file it goes. */
  readonly position?: number | undefined;
}

/** Where a blob is stored. On hierarchical accounts `container` is the id of the directory that it
 *  is in (of the container for the root directory), and `name` the last component of its path. */
export interface BlobKey {
  readonly container: bigint;
  readonly name: string;
}

export interface GenerationKey extends BlobKey {
  readonly at: Ticks;
  readonly kind: "snapshot" | "version" | "deleted";
}

const headersShape = {
  contentType: true,
  contentMd5: true,
  contentEncoding: true,
  contentLanguage: true,
  cacheControl: true,
  contentDisposition: true,
} as const;

/** Fields are stored by position. Fields that nearly every blob has come first. */
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
  },
});

export const containers = defineTable<{ account: bigint; name: string }, ContainerRecord>({
  name: "containers",
  tag: 0x20,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<ContainerRecord>({ version: 1 })),
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
});

export const blobs = defineTable<BlobKey, BlobRecord>({
  name: "blobs",
  tag: 0x22,
  key: ({ container, name }) => [container, name],
  codec: blobCodec,
  content: "content",
  indexes: (record, parts) => [
    ...tagEntries(record, parts),
    ...holdEntries(record, parts),
    ...leaseEntries("blob", record.lease, parts),
  ],
});

const generationKinds = { version: 0, snapshot: 1, deleted: 2 } as const;

/** Snapshots, earlier versions and soft-deleted states: by name, then oldest first. A table of its
 *  own, so that a plain listing need not skip them. */
export const generations = defineTable<GenerationKey, BlobRecord>({
  name: "generations",
  tag: 0x23,
  key: ({ container, name, at, kind }) => [container, name, at, generationKinds[kind]],
  codec: blobCodec,
  content: "content",
  indexes: holdEntries,
});

export const uploads = defineTable<BlobKey, UploadRecord>({
  name: "uploads",
  tag: 0x24,
  key: ({ container, name }) => [container, name],
  codec: recordCodec<UploadRecord>({ version: 1 }),
});

export const blocks = defineTable<{ upload: bigint; id: string }, BlockRecord>({
  name: "blocks",
  tag: 0x25,
  key: ({ upload, id }) => [upload, id],
  codec: recordCodec<BlockRecord>({ version: 1 }),
  content: "content",
});
