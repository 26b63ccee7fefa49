import { leaseEntries } from "../account/held-leases.ts";
import type { ContentRef } from "../content/content-ref.ts";
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
  /** What the blobs inside are keyed by: deleting or renaming a container touches only this. */
  readonly id: bigint;
  readonly etag: Ticks;
  readonly lease?: Lease | undefined;
  readonly metadata: Metadata;
  readonly publicAccess?: PublicAccess | undefined;
  readonly policies: readonly StoredPolicy[];
  readonly defaultEncryptionScope?: string | undefined;
  readonly denyEncryptionScopeOverride?: boolean | undefined;
}

/** A container that can still be restored, in `deletedContainers`. */
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

/** A blob, a snapshot or a version of it: they differ in where they lie and in the marks. */
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
  /** The version this is, on accounts that keep versions. */
  readonly versionId?: Ticks | undefined;
  /** A newer version took its place. */
  readonly superseded?: true | undefined;
  /** When it was snapshotted; only on snapshots. */
  readonly snapshot?: Ticks | undefined;
  readonly deleted?: Deletion | undefined;
  /** Page blobs: what a client may tell its writes apart by; 0 if never set. */
  readonly sequenceNumber?: bigint | undefined;
  /** Page blobs: stays the same from creation on, so that a diff knows a recreated blob. */
  readonly lineage?: Ticks | undefined;
  /** Append blobs: how many blocks were appended. */
  readonly committedBlockCount?: number | undefined;
  /** An append blob that takes no more blocks. */
  readonly sealed?: true | undefined;
  /** The last copy onto this blob. */
  readonly copy?: CopyState | undefined;
  /** The target of incremental copies, which only its snapshots can be read of. */
  readonly incrementalCopy?: true | undefined;
  /** When it ceases to exist. */
  readonly expiresAt?: Ticks | undefined;
  readonly encryptionScope?: string | undefined;
  /** SHA-256 of the client's own key; the bytes are of no use without that key. */
  readonly keySha256?: Uint8Array | undefined;
  /** An archived blob on its way back. */
  readonly rehydration?: Rehydration | undefined;
  readonly immutability?: ImmutabilityPolicy | undefined;
  readonly legalHold?: boolean | undefined;
  /** On accounts that track it; refreshed at most once a day. */
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
}

export interface Rehydration {
  readonly to: string;
  /** From then on the blob has that tier. */
  readonly due: Ticks;
  readonly priority: "High" | "Standard";
}

export interface ImmutabilityPolicy {
  readonly until: Ticks;
  readonly mode: "unlocked" | "locked";
}

export interface CopyState {
  readonly id: string;
  /** The URL, without its signature. */
  readonly source: string;
  readonly status: "pending" | "success" | "aborted" | "failed";
  readonly copiedBytes: number;
  readonly totalBytes: number;
  readonly completed?: Ticks | undefined;
  /** Why it failed. */
  readonly description?: string | undefined;
  /** Of an incremental copy: the snapshot it made. */
  readonly destinationSnapshot?: Ticks | undefined;
}

export interface Deletion {
  readonly at: Ticks;
  readonly retentionDays: number;
}

/** Blocks that were put and not yet committed: one record for the blob, one for each block. */
export interface UploadRecord {
  readonly id: bigint;
  /** All ids of uncommitted blocks have the same length, encoded. */
  readonly blockIdLength: number;
  /** Refreshed at most every hour; a week after it the blocks are forgotten. */
  readonly touched: Ticks;
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

/** What nearly every blob has comes first. */
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

/** Snapshots, earlier versions and soft-deleted states, oldest first below each name. Apart from
 *  `blobs`, so that a plain listing never steps over them. */
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
