import { leaseEntries } from "../account/held-leases.ts";
import type { ContentRef } from "../content/content-ref.ts";
import { decodeKey } from "../encoding/key-decoding.ts";
import { encodeTaggedKey } from "../encoding/keys.ts";
import type { Lease } from "../protocol/lease.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import type { KeyPart } from "../encoding/keys.ts";
import { defineTable, type IndexEntry } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import { noticesOf } from "./notices.ts";
import type { LockState } from "./locks/lock-state.ts";

export type Protocol = "SMB" | "NFS";

/** What Create Share and Set Share Properties can say, beside quota and metadata. */
export interface ShareSettings {
  readonly tier?: string | undefined;
  readonly tierChanged?: Ticks | undefined;
  /** What it was before; told for a while, as moving takes its time. */
  readonly tierBefore?: string | undefined;
  readonly protocol?: Protocol | undefined;
  readonly rootSquash?: string | undefined;
  readonly snapshotDirectoryAccess?: boolean | undefined;
  readonly directoryLease?: boolean | undefined;
  readonly paidBursting?: boolean | undefined;
  readonly paidBurstingMibps?: number | undefined;
  readonly paidBurstingIops?: number | undefined;
  readonly provisionedIops?: number | undefined;
  readonly provisionedMibps?: number | undefined;
}

export interface ShareRecord {
  /** What everything inside is keyed by: deleting a share touches only this record. */
  readonly id: bigint;
  readonly etag: Ticks;
  readonly lease?: Lease | undefined;
  readonly metadata: Metadata;
  readonly policies: readonly StoredPolicy[];
  readonly quotaGib: number;
  readonly settings: ShareSettings;
  /** Counts snapshots, starting at 1; everything written carries the epoch it was written in. */
  readonly epoch: number;
  /** The epoch of the newest snapshot there is, 0 without one. What was last written after it is
   *  seen by no snapshot, and so may be overwritten without keeping it. */
  readonly newestSnapshot: number;
  readonly snapshotCount: number;
}

/** A share as it was at the end of an epoch: `epoch` is the last one that it shows. */
export interface ShareSnapshotRecord extends ShareRecord {
  readonly at: Ticks;
}

export interface DeletedShareRecord extends ShareRecord {
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

export interface CopyState {
  readonly id: string;
  readonly source: string;
  readonly status: "success" | "pending" | "aborted" | "failed";
  readonly progress: string;
  readonly completed?: Ticks | undefined;
}

/** `to` is left out. */
export interface ClearedStretch {
  readonly from: number;
  readonly to: number;
  readonly epoch: number;
}

/** The owner, group and mode of a file on an NFS share. */
export interface PosixProperties {
  readonly mode: string;
  readonly owner: string;
  readonly group: string;
}

export type NodeKind = "file" | "directory" | "symlink";

/** A file or directory, kept under its parent and its folded name. */
export interface NodeRecord {
  /** Never changes, whatever it is renamed to: what handles, locks and children refer to. */
  readonly id: bigint;
  readonly parent: bigint;
  /** In the spelling it was given. */
  readonly name: string;
  readonly kind: NodeKind;
  readonly etag: Ticks;
  /** The epoch of the share in which this state was written. */
  readonly since: number;
  readonly created: Ticks;
  readonly lastWrite: Ticks;
  readonly change: Ticks;
  /** As a client has set it: reading is not recorded. Without it the last write counts. */
  readonly lastAccess?: Ticks | undefined;
  readonly attributes: number;
  readonly permissionKey?: string | undefined;
  readonly metadata: Metadata;
  /** Files only, as all that follows. */
  readonly content?: ContentRef | undefined;
  readonly headers?: HttpHeaders | undefined;
  readonly lease?: Lease | undefined;
  /** Bytes that were written and not cleared: what counts against the quota. */
  readonly allocated?: number | undefined;
  readonly copy?: CopyState | undefined;
  /** What was cleared since the newest snapshots, to tell it to those who ask for changes. */
  readonly cleared?: readonly ClearedStretch[] | undefined;
  readonly posix?: PosixProperties | undefined;
  readonly linkText?: string | undefined;
  /** Only another name: the id of the file that it stands for. */
  readonly linkTo?: bigint | undefined;
  /** Where the other names of this file lie. */
  readonly links?: readonly NodeLocation[] | undefined;
}

/** An earlier state of a node that snapshots up to the epoch `until` still show. */
export interface VersionRecord extends NodeRecord {
  readonly until: number;
}

export interface NodeKey {
  readonly share: bigint;
  readonly parent: bigint;
  readonly folded: string;
}

/** The root directory of a share is the node without a name below the id 0, which is its own. */
export const rootId = 0n;

export const shares = defineTable<{ account: bigint; name: string }, ShareRecord>({
  name: "shares",
  tag: 0x50,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<ShareRecord>({ version: 1 })),
  indexes: ({ id, lease }, parts) => [
    ...shareNameEntries(id, parts()),
    ...leaseEntries("share", lease, parts),
  ],
});

export interface ShareName {
  readonly account: bigint;
  readonly name: string;
}

/** From the id that nodes and locks are keyed by to the share as it is called. */
export const shareNames = defineTable<{ id: bigint; name: string }, ShareName>({
  name: "share-names",
  tag: 0x5b,
  key: ({ id, name }) => [id, name],
  codec: recordCodec<ShareName>({ version: 1 }),
});

function shareNameEntries(id: bigint, [account, name]: readonly KeyPart[]): readonly IndexEntry[] {
  const record = { account: account as bigint, name: name as string };
  const key = shareNames.key({ id, name: record.name });
  return [{ key, value: shareNames.codec.encode(record) }];
}

export const deletedShares = defineTable<
  { account: bigint; name: string; version: Ticks },
  DeletedShareRecord
>({
  name: "deleted-shares",
  tag: 0x51,
  key: ({ account, name, version }) => [account, name, version],
  codec: recordCodec<DeletedShareRecord>({ version: 1 }),
});

export const shareSnapshots = defineTable<{ share: bigint; at: Ticks }, ShareSnapshotRecord>({
  name: "share-snapshots",
  tag: 0x52,
  key: ({ share, at }) => [share, at],
  codec: recordCodec<ShareSnapshotRecord>({ version: 1 }),
  indexes: ({ lease }, parts) => leaseEntries("share", lease, parts),
});

export const nodes = defineTable<NodeKey, NodeRecord>({
  name: "nodes",
  tag: 0x53,
  key: ({ share, parent, folded }) => [share, parent, folded],
  codec: recordCodec<NodeRecord>({ version: 1 }),
  content: "content",
  indexes: ({ lease }, parts) => leaseEntries("file", lease, parts),
  changeNotices: (change, view) => noticesOf({ ...change, share: shareOf(change.key) }, view),
});

function shareOf(key: Uint8Array): bigint {
  const [share] = decodeKey(key, 1);
  return share as bigint;
}

/** Where a node lies, by its id: handles and locks know nothing else of it. */
export const nodeLocations = defineTable<{ share: bigint; id: bigint }, NodeLocation>({
  name: "places",
  tag: 0x54,
  key: ({ share, id }) => [share, id],
  codec: recordCodec<NodeLocation>({ version: 1 }),
});

export interface NodeLocation {
  readonly parent: bigint;
  readonly folded: string;
}

export interface VersionKey extends NodeKey {
  readonly since: number;
}

/** What snapshots show that is no longer so, oldest first below each name. */
export const versions = defineTable<VersionKey, VersionRecord>({
  name: "file-versions",
  tag: 0x55,
  key: ({ share, parent, folded, since }) => [share, parent, folded, since],
  codec: recordCodec<VersionRecord>({ version: 1 }),
  content: "content",
});

/** The same versions by the last snapshot that shows them, to find those nobody sees any more. */
export const versionEnds = defineTable<VersionKey & { readonly until: number }, object>({
  name: "file-version-ends",
  tag: 0x56,
  key: ({ share, until, parent, folded, since }) => [share, until, parent, folded, since],
  codec: recordCodec<object>({ version: 1 }),
});

export const locks = defineTable<{ share: bigint; id: bigint }, LockState>({
  name: "file-locks",
  tag: 0x57,
  key: ({ share, id }) => [share, id],
  // Every READ and WRITE looks at the locks, and 10,000 ranges take milliseconds to decode.
  codec: withDecodeCache(recordCodec<LockState>({ version: 1 }), { slots: 8, bytesMin: 4096 }),
});

export interface PermissionRecord {
  readonly sddl: string;
}

export const permissions = defineTable<{ share: bigint; key: string }, PermissionRecord>({
  name: "file-permissions",
  tag: 0x58,
  key: ({ share, key }) => [share, key],
  codec: recordCodec<PermissionRecord>({ version: 1 }),
});

/** A share that was just deleted: deleting it once more is no mistake. */
export const shareTombstones = defineTable<{ account: bigint; name: string }, ShareTombstone>({
  name: "share-tombstones",
  tag: 0x5a,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<ShareTombstone>({ version: 1 }),
});

export interface ShareTombstone {
  readonly until: Ticks;
}

const usageTag = 0x59;

/** Bytes that the files of a share hold now; a counter, so that writers never meet in it. */
export function usageCounter(share: bigint): Uint8Array {
  return encodeTaggedKey(usageTag, [share]);
}
