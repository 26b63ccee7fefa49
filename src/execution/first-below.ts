import type { Removal } from "../core/service.ts";
import { anyTable, type DefinedTable } from "../core/table.ts";
import type { RecordView } from "../core/view.ts";

export interface FoundBelow<R> extends Removal {
  readonly record: R;
}

/** How a reclaimer finds the first records below an id in a table: so many, unless it says fewer,
 *  for they are removed in one transaction. */
export function firstBelowUpTo(removalsMax: number) {
  return async function firstBelow<K, R extends object>(
    view: RecordView,
    table: DefinedTable<K, R>,
    id: bigint,
    limit: number = removalsMax,
  ): Promise<readonly FoundBelow<R>[]> {
    const found: FoundBelow<R>[] = [];
    for await (const batch of view.scan(table, { ...table.range([id]), limit })) {
      for (const { key, record } of batch) found.push({ table: anyTable(table), key, record });
    }
    return found;
  };
}
