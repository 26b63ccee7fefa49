import type { Removal } from "./service.ts";
import { anyTable, type DefinedTable } from "../encoding/table.ts";
import type { RecordView, Scanned } from "./view.ts";

/** A record that a reclaim job removes. */
export interface RemovableRecord<R> extends Removal {
  readonly record: R;
}

/** Returns a function that finds records for one step of a reclaim job: the first records of a
 *  table, in key order, whose keys begin with an id. It finds at most `limit` records, by default
 *  `removalsMax`. */
export function removalFinder(removalsMax: number) {
  return async function findRemovals<K, R extends object>(
    view: RecordView,
    table: DefinedTable<K, R>,
    id: bigint,
    limit: number = removalsMax,
  ): Promise<readonly RemovableRecord<R>[]> {
    const found: RemovableRecord<R>[] = [];
    for await (const batch of view.scan(table, { ...table.range([id]), limit })) {
      for (const scanned of batch) found.push(removalOf(table, scanned));
    }
    return found;
  };
}

function removalOf<K, R extends object>(
  table: DefinedTable<K, R>,
  scanned: Scanned<R>,
): RemovableRecord<R> {
  return {
    table: anyTable(table),
    key: scanned.key,
    // Decoded on first access: most records are removed without being read.
    get record() {
      return scanned.record;
    },
  };
}
