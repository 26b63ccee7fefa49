import { done, failed, type Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import { count } from "../format.ts";
import { prefixOf, substringTest, type NameFilter } from "./name-filter.ts";

interface Loading {
  /** Aborted when the list is no longer shown. */
  readonly signal: AbortSignal;
  /** Called with the number of rows read so far, which may be more than those that match. */
  readonly onRead: (rows: number) => void;
}

export type FetchPage<Row> = (
  marker: string | undefined,
  loading: Loading,
) => Promise<Result<Page<Row>>>;

/** Matching rows after which a page ends. */
const matchesPerPage = 200;
/** Rows that are sorted in memory. */
export const sortedRowsMax = 100_000;

/** Pages of the rows that pass a test; reads on until a page has enough of them. */
export function matchingPages<Row>(
  fetchPage: FetchPage<Row>,
  isMatch: (row: Row) => boolean,
): FetchPage<Row> {
  let read = 0;
  return async (marker, loading) => {
    const rows: Row[] = [];
    let next = marker;
    do {
      const page = await fetchPage(next, loading);
      if (!page.ok) return page;
      rows.push(...page.value.rows.filter(isMatch));
      read += page.value.rows.length;
      loading.onRead(read);
      next = page.value.next;
    } while (next !== undefined && rows.length < matchesPerPage && !loading.signal.aborted);
    return done({ rows, next });
  };
}

/** Pages of named rows under a filter; `list` filters by prefix. */
export function namedPages<Row extends { readonly name: string }>(
  filter: NameFilter,
  list: (prefix: string, marker: string | undefined) => Promise<Result<Page<Row>>>,
): FetchPage<Row> {
  const listed: FetchPage<Row> = (marker) => list(prefixOf(filter), marker);
  const isMatch = substringTest(filter);
  return isMatch === undefined ? listed : matchingPages(listed, ({ name }) => isMatch(name));
}

/** One page with all rows, sorted: the services list in one order only. */
export function sortedPage<Row>(
  fetchPage: FetchPage<Row>,
  compare: (one: Row, other: Row) => number,
): FetchPage<Row> {
  return async (_marker, loading) => {
    const rows: Row[] = [];
    let next: string | undefined;
    do {
      const page = await fetchPage(next, loading);
      if (!page.ok) return page;
      rows.push(...page.value.rows);
      loading.onRead(rows.length);
      next = page.value.next;
      if (rows.length > sortedRowsMax) return failed(tooManyRows);
    } while (next !== undefined && !loading.signal.aborted);
    return done({ rows: rows.toSorted(compare), next: undefined });
  };
}

const tooManyRows = {
  status: 413,
  code: "TooManyRows",
  message: `Only ${count(sortedRowsMax)} rows can be sorted. Filter the list, or sort by default.`,
};

/** Every row of a list, page by page; a failure ends it. */
export async function* everyRow<Row>(
  fetchPage: FetchPage<Row>,
  signal: AbortSignal,
): AsyncGenerator<Result<Row>> {
  let marker: string | undefined;
  do {
    const page = await fetchPage(marker, { signal, onRead: () => {} });
    if (!page.ok) return yield page;
    for (const row of page.value.rows) yield done(row);
    marker = page.value.next;
  } while (marker !== undefined && !signal.aborted);
}
