import { nameReclaimers } from "../account/deleted-names.ts";
import type { ReclaimJob } from "../operation/effects.ts";
import type { ReclaimHandler } from "../operation/service.ts";
import { anyTable, type DefinedTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import { removalFinder } from "../operation/find-removals.ts";
import { notices, watchedShares } from "./notices.ts";
import {
  deletedShares,
  locks,
  nodes,
  permissions,
  nodeLocations,
  shares,
  shareSnapshots,
  shareTombstones,
  usageCounter,
  versionEnds,
  versions,
  type ShareRecord,
} from "./records.ts";
import { reclaimSnapshot } from "./reclaim-snapshot.ts";

/** Records removed in one transaction. */
const removalsMax = 500;

const findRemovals = removalFinder(removalsMax);

/** The tables whose keys start with the id of a share. */
const belowShare = [
  nodes,
  nodeLocations,
  versions,
  versionEnds,
  shareSnapshots,
  locks,
  permissions,
  watchedShares,
  notices,
];

/** Removes all records of a deleted share, in several transactions. */
const reclaimShare: ReclaimHandler = async (view, [share]) => {
  const id = share as bigint;
  for (const table of belowShare) {
    const removals = await findRemovals(view, table as DefinedTable<unknown, object>, id);
    if (removals.length > 0) return { removals, done: false };
  }
  return { removals: [{ key: usageCounter(id) }], done: true };
};

/** Ends the retention of a soft-deleted share, and starts the removal of its records. */
const expireShare: ReclaimHandler = async (view, [account, name, version]) => {
  const key = {
    account: account as bigint,
    name: name as string,
    version: version as Ticks,
  };
  const record = await view.get(deletedShares, key);
  if (record === undefined) return { done: true };
  const removals = [{ table: anyTable(deletedShares), key: deletedShares.key(key) }];
  return { removals, jobs: [shareJob(record)], done: true };
};

/** Removes the mark of a recent deletion, unless a later deletion extended it. */
const forgetDeletion: ReclaimHandler = async (view, [account, name]) => {
  const key = { account: account as bigint, name: name as string };
  const tombstone = await view.get(shareTombstones, key);
  if (tombstone === undefined || view.now < tombstone.until) return { done: true };
  return { removals: [{ key: shareTombstones.key(key) }], done: true };
};

/** Removes all shares of a deleted account. */
const reclaimAccount: ReclaimHandler = async (view, [account]) => {
  const id = account as bigint;
  const live = await findRemovals(view, shares, id);
  const deleted = await findRemovals(view, deletedShares, id);
  const removals = [...live, ...deleted];
  const jobs = removals.map(({ record }) => shareJob(record));
  return { removals, jobs, done: removals.length === 0 };
};

function shareJob({ id }: ShareRecord): ReclaimJob {
  return { kind: "file-share", scope: [id] };
}

/** The reclaim jobs of the File service, by kind. */
export const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  ...nameReclaimers("file"),
  "file-share": reclaimShare,
  "file-snapshot": reclaimSnapshot,
  "file-deleted-share": expireShare,
  "file-tombstone": forgetDeletion,
  "file-account": reclaimAccount,
};
