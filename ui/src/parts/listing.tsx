import type { JSX } from "preact";
import { count } from "../format.ts";
import { Grid, type GridProps } from "./grid.tsx";
import type { PagedList } from "./paged-list.ts";
import { Empty, Failed, Waiting } from "./states.tsx";

export interface ListingProps<Row> extends Omit<GridProps<Row>, "rows"> {
  readonly list: PagedList<Row>;
  readonly empty: string;
}

/** A paged list with its loading, empty and failed states. */
export function Listing<Row>({ list, empty, ...grid }: ListingProps<Row>): JSX.Element {
  if (list.failure !== undefined) return <Failed failure={list.failure} />;
  if (list.count === 0) return list.isComplete ? <Empty>{empty}</Empty> : <Waiting />;
  const rows = {
    count: list.count,
    rowAt: (index: number) => list.rowAt(index),
    need: (first: number, last: number) => list.need(first, last),
  };
  return (
    <>
      <Grid {...grid} rows={rows} inheritsFocus />
      <div class="status-line" aria-live="polite">
        <span>
          {count(list.count)}
          {list.isComplete ? "" : "+"} {list.count === 1 ? "entry" : "entries"}
        </span>
        {list.isLoading && <span>Loading…</span>}
        {!list.isComplete && !list.isLoading && <span>Scroll for more</span>}
      </div>
    </>
  );
}
