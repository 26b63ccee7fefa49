import { useState } from "preact/hooks";

export interface Sort {
  /** Title of a column. */
  readonly by: string;
  readonly isDescending: boolean;
}

/** Values to sort by, by the title of their column. */
export type SortKeys<Row> = Readonly<Record<string, (row: Row) => string | number>>;

export interface Sorting {
  readonly titles: readonly string[];
  /** Undefined: in the order of the service. */
  readonly present: Sort | undefined;
  readonly set: (sort: Sort | undefined) => void;
}

export function useSorting(keys: SortKeys<never>): Sorting {
  const [present, set] = useState<Sort>();
  return { titles: Object.keys(keys), present, set };
}

/** The order after another click on a column: ascending, descending, that of the service. */
export function nextSort(present: Sort | undefined, by: string): Sort | undefined {
  if (present?.by !== by) return { by, isDescending: false };
  return present.isDescending ? undefined : { by, isDescending: true };
}

/** Compares rows; those of a lower group come first in either direction. */
export function comparison<Row>(
  keys: SortKeys<Row>,
  sort: Sort,
  groupOf: (row: Row) => number = () => 0,
): (one: Row, other: Row) => number {
  const keyOf = keys[sort.by] ?? (() => 0);
  const sign = sort.isDescending ? -1 : 1;
  return (one, other) => {
    const groups = groupOf(one) - groupOf(other);
    if (groups !== 0) return groups;
    const [left, right] = [keyOf(one), keyOf(other)];
    return left < right ? -sign : left > right ? sign : 0;
  };
}
