import { useMemo } from "preact/hooks";
import { useQueryValue } from "../route.ts";

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

/** The order in the address. */
export function useSorting(titles: readonly string[]): Sorting {
  const [value, setValue] = useQueryValue("sort");
  const present = useMemo(() => sortIn(value), [value]);
  return { titles, present, set: (sort) => setValue(sortValue(sort)) };
}

/** An order as text: `-Size` is by size, descending. */
export function sortValue(sort: Sort | undefined): string {
  return sort === undefined ? "" : `${sort.isDescending ? "-" : "+"}${sort.by}`;
}

export function sortIn(value: string): Sort | undefined {
  if (value === "") return undefined;
  return { by: value.slice(1), isDescending: value.startsWith("-") };
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
