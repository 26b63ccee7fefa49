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

/** An entry of a share listing: a share, a snapshot or a soft-deleted share. */
export interface ListedShare {
  readonly name: string;
  readonly record: ShareRecord | ShareSnapshotRecord | DeletedShareRecord;
  /** `name/rank`, by which the entries are ordered. The rank orders entries of one name:
   *  soft-deleted shares, snapshots from the oldest, the share. */
  readonly sortKey: string;
}

/** Which shares to list. */
export interface SharesRequest {
  readonly prefix: string;
  /** Sort key of the first entry of the page; empty for the start. */
  readonly from: string;
  readonly limit: number;
  readonly deleted: boolean;
  readonly snapshots: boolean;
}

/** Separates name and rank in a sort key; share names cannot contain it. */
const separator = "/";

/** Reads the entries of one page of a share listing, ordered by `sortKey`. */
export async function scanShares(
  view: RecordView,
  account: bigint,
  wanted: SharesRequest,
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
    .filter(({ sortKey }) => sortKey >= wanted.from)
    .toSorted((left, right) => (left.sortKey < right.sortKey ? -1 : 1))
    .slice(0, wanted.limit);
}

function listed(name: string, record: ListedShare["record"], rank: string): ListedShare {
  return { name, record, sortKey: `${name}${separator}${rank}` };
}

/** Days until a soft-deleted share can no longer be restored; negative if its retention has
 *  ended. */
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
  { prefix, from, limit }: SharesRequest,
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
