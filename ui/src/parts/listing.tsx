import type { JSX } from "preact";
import { count } from "../format.ts";
import { Grid, type GridProps } from "./grid.tsx";
import type { PagedList } from "./paged-list.ts";
import { Empty, Failed, Waiting } from "./states.tsx";

export interface ListingProps<Row> extends Omit<GridProps<Row>, "rows"> {
  readonly list: PagedList<Row>;
  readonly empty: string;
  /** The text of the filter: an empty result of a search is not an empty list. */
  readonly prefix?: string;
}

/** A paged list with its loading, empty and failed states. */
export function Listing<Row>(props: ListingProps<Row>): JSX.Element {
  const { list, empty, prefix = "", ...grid } = props;
  const failed = list.failure !== undefined && (
    <Failed what={lowerFirst(grid.label)} failure={list.failure} onRetry={() => list.retry()} />
  );
  if (list.count === 0) {
    return (
      failed ||
      (list.isComplete ? <Empty>{prefix === "" ? empty : noMatch(prefix)}</Empty> : <Waiting />)
    );
  }
  const rows = {
    count: list.count,
    rowAt: (index: number) => list.rowAt(index),
    need: (first: number, last: number) => list.need(first, last),
  };
  return (
    <>
      <Grid {...grid} rows={rows} inheritsFocus />
      {failed}
      <div class="status-line" aria-live="polite">
        <span>
          {count(list.count)}
          {list.isComplete ? "" : "+"} {list.count === 1 ? "entry" : "entries"}
        </span>
        {list.isLoading && <span>Loading…</span>}
        {!list.isComplete && !list.isLoading && !failed && <span>Scroll for more</span>}
      </div>
    </>
  );
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function noMatch(prefix: string): string {
  return `No names begin with “${prefix}”. Change the prefix to find others.`;
}
