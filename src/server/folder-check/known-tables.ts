import { quotaState } from "../../account/account-quota.ts";
import { accounts, accountsState } from "../../account/account-record.ts";
import { deletedNames } from "../../account/deleted-names.ts";
import { heldLeases } from "../../account/held-leases.ts";
import { blockCounter } from "../../blob/block/read-blocks.ts";
import {
  allTags,
  containerNames,
  containerTags,
  directoryNames,
  holds,
} from "../../blob/indexes.ts";
import * as blob from "../../blob/records.ts";
import { contentTags } from "../../content/tables.ts";
import { anyTable, type AnyTable, type DefinedTable } from "../../encoding/table.ts";
import { reclaimJobs } from "../../operation/reclaim-jobs.ts";
import { transferJobs } from "../../operation/transfer-jobs.ts";
import { accountUsage } from "../../operation/usage.ts";
import { notices, watchedShares } from "../../file/notices.ts";
import * as file from "../../file/records.ts";
import * as queue from "../../queue/records.ts";
import * as table from "../../table/records.ts";

/** Tables whose keys begin with the id of an owner: account, container, queue, share or upload. */
export const ownedTables = [
  blob.containers,
  blob.deletedContainers,
  blob.blobs,
  blob.generations,
  blob.uploads,
  blob.blocks,
  table.tables,
  table.entities,
  queue.queues,
  queue.deletedQueues,
  queue.messages,
  queue.visibilityIndex,
  queue.expiries,
  file.shares,
  file.deletedShares,
  file.shareSnapshots,
  file.nodes,
  file.nodeLocations,
  file.versions,
  file.versionEnds,
  file.locks,
  file.permissions,
  file.shareTombstones,
] as const;

const all = [
  accounts,
  accountsState,
  quotaState,
  heldLeases,
  deletedNames,
  reclaimJobs,
  transferJobs,
  allTags,
  containerNames,
  containerTags,
  directoryNames,
  holds,
  ...ownedTables,
  file.shareNames,
  notices,
  watchedShares,
] as unknown as readonly DefinedTable<never, object>[];

/** All tables of records, by tag. */
export const tablesByTag: ReadonlyMap<number, AnyTable> = new Map(
  all.map((each) => [each.tag, anyTable(each)]),
);

/** Names of the counters that the check recounts, by tag. */
export const counterNames: ReadonlyMap<number, string> = new Map([
  [tagOf(blockCounter(0n)), "blocks of upload"],
  [tagOf(queue.messageCounter(0n)), "messages of queue"],
  [tagOf(file.usageCounter(0n)), "bytes of share"],
]);

/** The counter of the bytes of an account, which a running server counts again itself. */
export const uncheckedTags: ReadonlySet<number> = new Set([tagOf(accountUsage(0n))]);

export const ownContentTags: ReadonlySet<number> = new Set(contentTags);

export function tagOf(key: Uint8Array): number {
  return key[0] ?? 0;
}

/** Tables whose records always have content; file nodes may be directories, which have none. */
export const alwaysWithContent: ReadonlySet<number> = new Set([
  blob.blobs.tag,
  blob.generations.tag,
  blob.blocks.tag,
]);
