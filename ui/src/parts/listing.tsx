import type { JSX } from "preact";
import { count } from "../format.ts";
import { Grid, type GridProps } from "./grid.tsx";
import type { NameFilter } from "./name-filter.ts";
import type { PagedList } from "./paged-list.ts";
import { sortIn, sortValue, type Sorting } from "./sorting.ts";
import { Empty, Failed, Waiting } from "./states.tsx";

interface ListingProps<Row> extends Omit<GridProps<Row>, "rows"> {
  readonly list: PagedList<Row>;
  readonly empty: string;
  /** Loads the list again, if it is too long to follow the changes of other clients. */
  readonly onRefresh?: (() => void) | undefined;
  /** An empty result of a search is not an empty list. */
  readonly filter?: NameFilter;
}

/** A paged list with its loading, empty and failed states. */
export function Listing<Row>(props: ListingProps<Row>): JSX.Element {
  const { list, empty, filter, onRefresh, ...grid } = props;
  const failed = list.failure !== undefined && (
    <Failed what={lowerFirst(grid.label)} failure={list.failure} onRetry={() => list.retry()} />
  );
  const line = (
    <StatusLine list={list} hasFailed={failed !== false} onRefresh={onRefresh} {...grid} />
  );
  if (list.count === 0) {
    const isSearch = filter !== undefined && filter.text !== "";
    return (
      <>
        {failed ||
          (list.isComplete ? (
            <Empty>{isSearch ? noMatch(filter) : empty}</Empty>
          ) : (
            <Waiting>{list.readCount > 0 && `${count(list.readCount)} read`}</Waiting>
          ))}
        {grid.sorting?.present !== undefined && line}
      </>
    );
  }
  const rows = {
    count: list.count,
    rowAt: (index: number) => list.rowAt(index),
    need: (first: number, last: number) => list.need(first, last),
    needAll: () => list.needAll(),
    source: list,
  };
  return (
    <>
      <Grid {...grid} rows={rows} inheritsFocus />
      {failed}
      {line}
    </>
  );
}

interface StatusLineProps<Row> extends Pick<GridProps<Row>, "selection" | "sorting"> {
  readonly list: PagedList<Row>;
  readonly hasFailed: boolean;
  readonly onRefresh: (() => void) | undefined;
}

/** The number of entries, and commands for the whole list. */
function StatusLine<Row>(props: StatusLineProps<Row>): JSX.Element {
  const { list, hasFailed, selection, sorting } = props;
  const isSelected = selection !== undefined && !selection.isEmpty;
  return (
    <div class="status-line">
      <span aria-live="polite">
        {count(list.count)}
        {list.isComplete ? "" : "+"} {list.count === 1 ? "entry" : "entries"}
      </span>
      {list.isLoading && (
        <span>Loading…{list.readCount > 0 ? ` ${count(list.readCount)} read` : ""}</span>
      )}
      {!list.isComplete && !list.isLoading && !hasFailed && <span>Scroll for more</span>}
      {props.onRefresh !== undefined && (
        <span>
          Changed by other clients.{" "}
          <button type="button" class="text-button" onClick={props.onRefresh}>
            Show changes
          </button>
        </span>
      )}
      <span class="grow" />
      {selection !== undefined && (
        <button
          type="button"
          class="text-button"
          onClick={isSelected ? selection.clear : selection.selectAll}
        >
          {isSelected ? "Clear selection" : "Select all"}
        </button>
      )}
      {sorting !== undefined && <SortChoice sorting={sorting} />}
    </div>
  );
}

/** Sorting also by columns that a narrow list does not show. */
function SortChoice({ sorting }: { readonly sorting: Sorting }): JSX.Element {
  const { present, titles, set } = sorting;
  return (
    <select
      aria-label="Sort by"
      value={sortValue(present)}
      onChange={({ currentTarget: { value } }) => set(sortIn(value))}
    >
      <option value="">Default order</option>
      {titles.flatMap((title) => [
        <option key={`+${title}`} value={`+${title}`}>
          {title} ↑
        </option>,
        <option key={`-${title}`} value={`-${title}`}>
          {title} ↓
        </option>,
      ])}
    </select>
  );
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function noMatch({ text, mode }: NameFilter): string {
  return mode === "prefix"
    ? `No names begin with “${text}”. Upper and lower case count; “contains” ignores them.`
    : `No names contain “${text}”.`;
}
