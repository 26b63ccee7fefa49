import { softDeletePeriod } from "../account/deleted-names.ts";
import { leaseEntries } from "../account/held-leases.ts";
import type { ContentRef } from "../content/content-ref.ts";
import { decodeKey, type KeyPart } from "../encoding/keys.ts";
import type { Lease } from "../protocol/lease.ts";
import { type Metadata, metadataBytes, type HttpHeaders } from "../protocol/metadata.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import {
  anyTable,
  archivedRecord,
  defineCounter,
  defineIndex,
  defineTable,
  type AnyTable,
  type IndexEntry,
  type RelatedEntry,
  internalRecord,
  recordCodec,
  withDecodeCache,
} from "../encoding/table.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import { notices, noticesOf, watchedShares } from "./notices.ts";
import type { LockState } from "./locks/lock-state.ts";

/** The records of the File service, and the tables that store them. */

export type Protocol = "SMB" | "NFS";

/** What Create Share and Set Share Properties set, beside quota and metadata. */
export interface ShareSettings {
  readonly tier?: string | undefined;
  readonly tierChanged?: Ticks | undefined;
  /** The previous tier, which responses report for 60 s after a change (`tierTransitionState`). */
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
  /** First part of the keys of all records of the share. A share that is created again under the
   *  same name gets another id. Deleting a share therefore removes only this record; a reclaim job
   *  removes the records below it. */
  readonly id: bigint;
  readonly etag: Ticks;
  readonly lease?: Lease | undefined;
  readonly metadata: Metadata;
  readonly policies: readonly StoredPolicy[];
  readonly quotaGib: number;
  readonly settings: ShareSettings;
  /** The share's count of snapshots: starts at 1, and is raised by each. Every file node has the
   *  epoch in which it was written (`since`), which says which snapshots show it. */
  readonly epoch: number;
  /** The last epoch that the newest snapshot shows; 0 without a snapshot. No snapshot shows a
   *  record of a later epoch, so a later record is overwritten without storing a version. */
  readonly newestSnapshot: number;
  readonly snapshotCount: number;
}

/** A share snapshot: the share's record at that time. Its `epoch` is the last that it shows. */
export interface ShareSnapshotRecord extends ShareRecord {
  readonly at: Ticks;
}

/** A soft-deleted share, which Restore Share brings back within `retentionDays`. */
export interface DeletedShareRecord extends ShareRecord {
  readonly deletedAt: Ticks;
  readonly retentionDays: number;
}

/** The last Copy File with this file as target, as Get File Properties reports it. */
export interface CopyState {
  readonly id: string;
  readonly source: string;
  readonly status: "success" | "pending" | "aborted" | "failed";
  /** `<bytes copied>/<bytes in total>`. */
  readonly progress: string;
  readonly completed?: Ticks | undefined;
}

/** The range from `from` up to, not including, `to` was cleared in this epoch of the share. */
export interface ClearedRange {
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

/** A file node: a file, directory or symbolic link, keyed by its parent and folded name. */
export interface NodeRecord {
  /** Unchanged by renames: handles, locks and children refer to it. */
  readonly id: bigint;
  readonly parent: bigint;
  /** The name as the client spelled it, not case-folded. */
  readonly name: string;
  readonly kind: NodeKind;
  readonly etag: Ticks;
  /** The epoch of the share in which this record was written. */
  readonly since: number;
  readonly created: Ticks;
  readonly lastWrite: Ticks;
  readonly change: Ticks;
  /** Set only by a client: reads do not update it. If undefined, the last write time is
   *  reported. */
  readonly lastAccess?: Ticks | undefined;
  readonly attributes: number;
  /** Key of the security descriptor; undefined for the default one of a root directory
   *  (`rootSddl`). */
  readonly permissionKey?: string | undefined;
  readonly metadata: Metadata;
  /** The bytes of a file; undefined for directories and links. */
  readonly content?: ContentRef | undefined;
  readonly headers?: HttpHeaders | undefined;
  readonly lease?: Lease | undefined;
  /** Bytes that were written and not cleared. They count against the quota of the account. */
  readonly allocated?: number | undefined;
  /** Bytes that count against the quota of the share: the length of the file, also while a pending
   *  copy has not delivered it. Undefined in records of earlier releases, which counted
   *  `allocated`. */
  readonly counted?: number | undefined;
  readonly copy?: CopyState | undefined;
  /** Ranges that were cleared while the share had snapshots, for List Ranges with
   *  `prevsharesnapshot`. */
  readonly cleared?: readonly ClearedRange[] | undefined;
  /** Owner, group and mode; set for every file node of an NFS share, undefined on SMB shares. */
  readonly posix?: PosixProperties | undefined;
  readonly linkText?: string | undefined;
  /** Set if this is a hard link: the id of the file that it refers to. */
  readonly linkTo?: bigint | undefined;
  /** The keys of the hard links to this file; undefined if it has only one name. */
  readonly links?: readonly NodeLocation[] | undefined;
}

/** An earlier state of a file node, which snapshots with an epoch from `since` to `until` show. */
export interface VersionRecord extends NodeRecord {
  readonly until: number;
}

/** Key of a file node: the share, the id of the parent directory, and the case-folded name. */
export interface NodeKey {
  readonly share: bigint;
  readonly parent: bigint;
  readonly folded: string;
}

/** The id of the root directory of every share. It has an empty name, and itself as parent. */
export const rootId = 0n;

/** The parent of displaced files: a rename replaced them while they were open. No directory has
 *  this id, which is greater than those of `newId`, so that no path or listing leads to them. They
 *  are delete-pending. */
export const displacedParent = 2n ** 64n - 1n;

/** How often a reclaim job (a stored background task) looks whether a displaced file still has
 *  handles. The last close deletes the file; the job deletes it if its lock state was lost in a
 *  reboot, or left out of a saved state or archive. */
export const displacedCheckTicks = ticksFromSeconds(600);

export const shares = defineTable<{ account: bigint; name: string }, ShareRecord>({
  name: "shares",
  tag: 0x50,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<ShareRecord>({ version: 1 })),
  owner: "account",
  ...archivedRecord,
  defines: { id: "share" },
  hasLease: true,
  indexes: ({ id, lease }, parts) => [
    ...shareNameEntries(id, parts()),
    ...leaseEntries("share", lease, parts),
  ],
});

export interface ShareName {
  readonly account: bigint;
  readonly name: string;
}

/** Index that finds the account and name of a share by its id. */
export const shareNames = defineIndex<{ id: bigint; name: string }, ShareName>({
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
  owner: "account",
  ...archivedRecord,
  defines: { id: "share" },
  hasLease: true,
  period: softDeletePeriod("file-deleted-share"),
});

export const shareSnapshots = defineTable<{ share: bigint; at: Ticks }, ShareSnapshotRecord>({
  name: "share-snapshots",
  tag: 0x52,
  key: ({ share, at }) => [share, at],
  codec: recordCodec<ShareSnapshotRecord>({ version: 1 }),
  owner: "share",
  ...archivedRecord,
  repeatsOwner: "id",
  hasLease: true,
  indexes: ({ lease }, parts) => leaseEntries("share", lease, parts),
});

export const shareUsage = defineCounter({
  name: "bytes of share",
  tag: 0x59,
  owner: "share",
  isSum: true,
});

export const nodes = defineTable<NodeKey, NodeRecord>({
  name: "nodes",
  tag: 0x53,
  key: ({ share, parent, folded }) => [share, parent, folded],
  codec: withDecodeCache(recordCodec<NodeRecord>({ version: 1 })),
  owner: "share",
  ...archivedRecord,
  mayLackContent: true,
  hasLease: true,
  relatedEntries: locationEntries,
  counters: [{ counter: shareUsage, of: (record) => BigInt(shareBytes(record)) }],
  content: "content",
  countedBytes: nodeBytes,
  indexes: ({ lease }, parts) => leaseEntries("file", lease, parts),
  period: {
    jobKinds: ["file-displaced"],
    scopeOf: ([share], { id }) => [share as bigint, id],
    ends: ({ parent, etag }) =>
      parent === displacedParent ? etag + displacedCheckTicks : undefined,
  },
  changeNotices: (change, view) =>
    (change.after ?? change.before)?.parent === displacedParent
      ? []
      : noticesOf(decodeKey(change.key, 1)[0] as bigint, change, view),
});

/** The entry of a file node in `nodeLocations`. The root directory and hard links have none: the
 *  root has a fixed key, and no handle refers to a link. */
function locationEntries(
  { id, linkTo }: NodeRecord,
  parts: readonly KeyPart[],
): readonly RelatedEntry[] {
  if (linkTo !== undefined || id === rootId) return [];
  const [share, parent, folded] = parts as [bigint, bigint, string];
  return [
    {
      key: nodeLocations.key({ share, id }),
      value: nodeLocations.codec.encode({ parent, folded }),
    },
  ];
}

/** Index from the id of a file node to its key in `nodes`. Handles and lock states refer to a file
 *  by its id. */
export const nodeLocations = defineTable<{ share: bigint; id: bigint }, NodeLocation>({
  name: "places",
  tag: 0x54,
  key: ({ share, id }) => [share, id],
  codec: recordCodec<NodeLocation>({ version: 1 }),
  owner: "share",
  lifetime: "durable",
  role: "related",
  isArchived: true,
});

/** Where a file node is stored: the id of its parent directory and its case-folded name. */
export interface NodeLocation {
  readonly parent: bigint;
  readonly folded: string;
}

export interface VersionKey extends NodeKey {
  readonly since: number;
}

/** Earlier states of file nodes that snapshots show, for each name from the oldest. */
export const versions = defineTable<VersionKey, VersionRecord>({
  name: "file-versions",
  tag: 0x55,
  key: ({ share, parent, folded, since }) => [share, parent, folded, since],
  codec: recordCodec<VersionRecord>({ version: 1 }),
  owner: "share",
  ...archivedRecord,
  mayLackContent: true,
  hasLease: true,
  earlierStateOf: { table: anyTable(nodes), keyParts: 3 },
  relatedEntries: ({ until }, parts) => {
    const [share, parent, folded, since] = parts as [bigint, bigint, string, number];
    return [{ key: versionEnds.key({ share, parent, folded, since, until }) }];
  },
  content: "content",
  countedBytes: nodeBytes,
});

/** Index of `versions` by the last snapshot that shows them (`until`), to find those that a deleted
 *  snapshot no longer needs. */
export const versionEnds = defineTable<VersionKey & { readonly until: number }, object>({
  name: "file-version-ends",
  tag: 0x56,
  key: ({ share, until, parent, folded, since }) => [share, until, parent, folded, since],
  codec: recordCodec<object>({ version: 1 }),
  owner: "share",
  lifetime: "durable",
  role: "related",
  isArchived: true,
});

/** What SMB clients have open, locked and cached (`locks/lock-state.ts`), by the id of the file. It
 *  is committed without a flush, and lost when the machine restarts, as its handles are. */
export const locks = defineTable<{ share: bigint; id: bigint }, LockState>({
  name: "file-locks",
  tag: 0x57,
  key: ({ share, id }) => [share, id],
  // Every READ and WRITE reads the lock state, and a state with 10,000 ranges takes milliseconds to
  // decode, so large ones are cached.
  codec: withDecodeCache(recordCodec<LockState>({ version: 1 }), { slots: 8, bytesMin: 4096 }),
  owner: "share",
  lifetime: "session",
  role: "record",
  isArchived: false,
});

/** Handles through which the content of a file was changed, while the account has an event log: the
 *  close of such a handle is an event. These records are durable, unlike the lock state: if a
 *  reboot ends the handle, the change still becomes an event (`filesystem/sweep.ts`). */
export const openChanges = defineTable<{ share: bigint; file: bigint; handle: bigint }, object>({
  name: "file-open-changes",
  tag: 0x5e,
  key: ({ share, file, handle }) => [share, file, handle],
  codec: recordCodec<object>({ version: 1 }),
  owner: "share",
  ...internalRecord,
});

export interface PermissionRecord {
  readonly sddl: string;
}

/** Security descriptors of the files of a share, by a hash of their text. */
export const permissions = defineTable<{ share: bigint; key: string }, PermissionRecord>({
  name: "file-permissions",
  tag: 0x58,
  key: ({ share, key }) => [share, key],
  codec: recordCodec<PermissionRecord>({ version: 1 }),
  owner: "share",
  ...archivedRecord,
});

/** Marks a share as recently deleted: until `until`, another Delete Share of the name succeeds, as
 *  while Azure is deleting a share. */
export const shareTombstones = defineTable<{ account: bigint; name: string }, ShareTombstone>({
  name: "share-tombstones",
  tag: 0x5a,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<ShareTombstone>({ version: 1 }),
  owner: "account",
  ...internalRecord,
  period: {
    jobKinds: ["file-tombstone"],
    scopeOf: ([account, name]) => [account as bigint, name as string],
    ends: ({ until }) => until,
    keyPartsOf: (scope) => scope,
  },
});

export interface ShareTombstone {
  readonly until: Ticks;
}

/** All tables of the File service, for the background tasks and commands that handle all records.
 *  Reclaim jobs empty the tables of one owner, for example a deleted share, in this order. */
export const fileTables: readonly AnyTable[] = [
  anyTable(shares),
  anyTable(deletedShares),
  anyTable(shareTombstones),
  // An archive has the tables in this order: permissions before the files that refer to them.
  anyTable(permissions),
  anyTable(nodes),
  anyTable(nodeLocations),
  anyTable(versions),
  anyTable(versionEnds),
  anyTable(shareSnapshots),
  anyTable(locks),
  anyTable(openChanges),
  anyTable(watchedShares),
  anyTable(notices),
  anyTable(shareNames),
];

/** How many bytes of a file, or of an earlier state that snapshots show, count against the quota of
 *  its account. */
export function nodeBytes({ allocated = 0, metadata }: NodeRecord): number {
  return allocated + metadataBytes(metadata);
}

/** How many bytes of a file count against the quota of its share, and in its statistics: its
 *  length, written or not, as on Azure. */
export function shareBytes({ counted, allocated = 0 }: NodeRecord): number {
  return counted ?? allocated;
}
