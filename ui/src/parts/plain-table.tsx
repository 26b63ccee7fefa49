import type { ComponentChildren, JSX } from "preact";

interface PlainTableProps {
  readonly titles: readonly string[];
  /** Indexes of columns with numbers, which are aligned to the right. */
  readonly numbers?: readonly number[];
  /** Rows of stored data: columns are as wide as their values, and the table can be scrolled. */
  readonly isData?: boolean;
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** A short table; lists that may be long use `Grid`. */
export function PlainTable(props: PlainTableProps): JSX.Element {
  const { titles, numbers = [], rows } = props;
  const classOf = (column: number): string | undefined =>
    numbers.includes(column) ? "end" : undefined;
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label={titles[0]}>
      <table class={props.isData === true ? "plain-table data" : "plain-table"}>
        <thead>
          <tr>
            {titles.map((title, column) => (
              <th key={column} scope="col" class={classOf(column)}>
                {title === "" ? <span class="unseen">Actions</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column} class={classOf(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
