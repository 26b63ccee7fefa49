import { compareKeys } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  deletedShares,
  shares,
  type DeletedShareRecord,
  type ShareRecord,
  type ShareSnapshotRecord,
} from "../records.ts";
import { snapshotsOf } from "../share/snapshots.ts";

export interface ListedShare {
  readonly name: string;
  readonly record: ShareRecord | ShareSnapshotRecord | DeletedShareRecord;
  /** Order of entries with the same name: deleted shares, snapshots from the oldest, the share. */
  readonly place: string;
}

export interface SharesWanted {
  readonly prefix: string;
  readonly from: string;
  readonly limit: number;
  readonly deleted: boolean;
  readonly snapshots: boolean;
}

/** Separated by a slash, which share names cannot contain. */
const separator = "/";

export async function scanShares(
  view: RecordView,
  account: bigint,
  wanted: SharesWanted,
): Promise<readonly ListedShare[]> {
  const found: ListedShare[] = [];
  for (const [name, record] of await namesOf(view, shares, account, wanted)) {
    if (wanted.snapshots && record.snapshotCount > 0) {
      for (const snapshot of await snapshotsOf(view, record.id)) {
        found.push(listed(name, snapshot, `1${snapshot.at}`));
      }
    }
    found.push(listed(name, record, "2"));
    if (found.length > wanted.limit * 2) break;
  }
  if (wanted.deleted) {
    for (const [name, record] of await namesOf(view, deletedShares, account, wanted)) {
      if (remainingDays(record, view.now) < 0) continue;
      found.push(listed(name, record, `0${record.deletedAt}`));
    }
  }
  return found
    .filter(({ place }) => place >= wanted.from)
    .toSorted((left, right) => (left.place < right.place ? -1 : 1))
    .slice(0, wanted.limit);
}

function listed(name: string, record: ListedShare["record"], rank: string): ListedShare {
  return { name, record, place: `${name}${separator}${rank}` };
}

export function remainingDays(
  { deletedAt, retentionDays }: DeletedShareRecord,
  now: Ticks,
): number {
  return retentionDays - Number((now - deletedAt) / ticksPerDay);
}

async function namesOf<K, R>(
  view: RecordView,
  table: DefinedTable<K, R>,
  account: bigint,
  { prefix, from, limit }: SharesWanted,
): Promise<readonly (readonly [name: string, record: R])[]> {
  const within = table.range([account], prefix);
  const first = table.prefix([account, from.split(separator)[0] ?? ""]);
  const start = compareKeys(within.start, first) < 0 ? first : within.start;
  const found: (readonly [string, R])[] = [];
  for await (const batch of view.scan(table, { start, end: within.end, limit: limit + 1 })) {
    for (const { key, record } of batch) found.push([table.parts(key)[1] as string, record]);
  }
  return found;
}
