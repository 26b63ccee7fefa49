import type { JSX } from "preact";
import type { Column } from "./grid-types.ts";
import { nextSort, type Sort, type Sorting } from "./sorting.ts";

interface GridHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly template: string;
  readonly sorting: Sorting | undefined;
}

export function GridHead<Row>({ columns, template, sorting }: GridHeadProps<Row>): JSX.Element {
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={1} style={{ "--columns": template }}>
        {columns.map((column) => (
          <HeadCell key={column.title} column={column} sorting={sorting} />
        ))}
      </div>
    </div>
  );
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly sorting: Sorting | undefined;
}

function HeadCell<Row>({ column, sorting }: HeadCellProps<Row>): JSX.Element {
  const { title, align, isTitleHidden, note } = column;
  const isSortable = sorting?.titles.includes(title) === true;
  const order = sorting?.present?.by === title ? orderOf(sorting.present) : undefined;
  return (
    <div role="columnheader" class={cellClass(align)} aria-sort={order}>
      {isSortable ? (
        <button
          type="button"
          class="sort"
          onClick={() => sorting.set(nextSort(sorting.present, title))}
        >
          {title}
          {order !== undefined && <span aria-hidden="true">{arrows[order]}</span>}
        </button>
      ) : (
        <span class={isTitleHidden === true ? "unseen" : ""}>{title}</span>
      )}
      {note !== undefined && <span class="type"> {note}</span>}
    </div>
  );
}

const arrows = { ascending: " ↑", descending: " ↓" } as const;

function orderOf({ isDescending }: Sort): "ascending" | "descending" {
  return isDescending ? "descending" : "ascending";
}

export function cellClass(align: "end" | undefined): string {
  return align === "end" ? "cell end" : "cell";
}
