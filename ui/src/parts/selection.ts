import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { done, type Result } from "../result.ts";

/**
 * Selected rows of a list. After Select all the list may have rows that are not loaded, so the
 * selection holds the rows that are excluded instead.
 */
export interface Selection<Row> {
  readonly isAll: boolean;
  /** The selected rows; if `isAll`, the excluded ones. */
  readonly rows: readonly Row[];
  readonly isEmpty: boolean;
  readonly has: (row: Row) => boolean;
  readonly toggle: (row: Row) => void;
  readonly add: (rows: readonly Row[]) => void;
  readonly set: (rows: readonly Row[]) => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
}

interface Held<Row> {
  readonly isAll: boolean;
  readonly rows: ReadonlyMap<string, Row>;
}

/** A selection that is cleared when `inputs` change. */
export function useSelection<Row>(
  keyOf: (row: Row) => string,
  inputs: readonly unknown[],
): Selection<Row> {
  const nothing: Held<Row> = { isAll: false, rows: new Map() };
  const [held, setHeld] = useState(nothing);
  useLayoutEffect(() => setHeld(nothing), inputs);
  return useMemo(() => {
    const put = (isAll: boolean, rows: readonly Row[]): void =>
      setHeld({ isAll, rows: new Map(rows.map((row) => [keyOf(row), row])) });
    const isIn = (row: Row): boolean => held.rows.has(keyOf(row)) !== held.isAll;
    return {
      isAll: held.isAll,
      rows: [...held.rows.values()],
      isEmpty: !held.isAll && held.rows.size === 0,
      has: isIn,
      toggle: (row) => setHeld((before) => toggled(before, keyOf(row), row)),
      add: (rows) => {
        const missing = rows.filter((row) => !isIn(row));
        const keys = new Set(missing.map(keyOf));
        const present = [...held.rows.values()];
        if (held.isAll)
          put(
            true,
            present.filter((row) => !keys.has(keyOf(row))),
          );
        else put(false, [...present, ...missing]);
      },
      set: (rows) => put(false, rows),
      selectAll: () => put(true, []),
      clear: () => put(false, []),
    };
  }, [held]);
}

function toggled<Row>({ isAll, rows }: Held<Row>, key: string, row: Row): Held<Row> {
  const next = new Map(rows);
  if (!next.delete(key)) next.set(key, row);
  return { isAll, rows: next };
}

/** Whether a command on a row is for this row only. On a selected row it is for all of them. */
export function isAlone<Row>(selection: Selection<Row>, row: Row): boolean {
  return !selection.has(row) || (!selection.isAll && selection.rows.length === 1);
}

/** The selected rows, read from the list if all are selected. */
export async function* selectedRows<Row>(
  selection: Pick<Selection<Row>, "isAll" | "rows" | "has">,
  everyRow: () => AsyncIterable<Result<Row>>,
): AsyncGenerator<Result<Row>> {
  if (!selection.isAll) {
    for (const row of selection.rows) yield done(row);
    return;
  }
  for await (const row of everyRow()) if (!row.ok || selection.has(row.value)) yield row;
}
