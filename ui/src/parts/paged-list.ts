import type { Failure } from "../result.ts";
import type { Page } from "../rest/container.ts";
import type { FetchPage } from "./arranged-pages.ts";

interface HeldPage<Row> {
  readonly start: number;
  readonly count: number;
  readonly marker: string | undefined;
  /** Undefined after the rows were dropped from memory; they are loaded again by the marker of the
   *  page. */
  rows: readonly Row[] | undefined;
}

/** Pages that stay in memory: about 30,000 rows, however far the user scrolls. */
const pagesHeldMax = 30;
/** Rows up to which the end of a list is looked for. */
const rowsToEndMax = 200_000;

/**
 * A listing whose pages are loaded as scrolling comes near them. Rows are read by index, so the
 * cost of a list of a million rows depends only on the visible part.
 */
export class PagedList<Row> {
  readonly #fetchPage: FetchPage<Row>;
  readonly #changed: () => void;
  readonly #pages: HeldPage<Row>[] = [];
  #next: string | undefined;
  #isComplete = false;
  #isAllNeeded = false;
  #isLoading = false;
  #failure: Failure | undefined;
  #readCount = 0;
  readonly #abort = new AbortController();

  constructor(fetchPage: FetchPage<Row>, changed: () => void) {
    this.#fetchPage = fetchPage;
    this.#changed = changed;
  }

  get count(): number {
    const last = this.#pages.at(-1);
    return last === undefined ? 0 : last.start + last.count;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Rows read by a search or sort, which may be more than those it found. */
  get readCount(): number {
    return this.#readCount;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  rowAt(index: number): Row | undefined {
    const page = this.#pages[this.#pageOf(index)];
    return page?.rows?.[index - page.start];
  }

  /** The first row in memory that passes a test. */
  find(isWanted: (row: Row) => boolean): Row | undefined {
    for (const { rows } of this.#pages) {
      const found = rows?.find(isWanted);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Loads the pages of the visible rows and of those near them. */
  need(first: number, last: number): void {
    if (this.#isLoading || this.#failure !== undefined || this.#abort.signal.aborted) return;
    for (let at = this.#pageOf(first); at <= this.#pageOf(last); at += 1) {
      const page = this.#pages[at];
      if (page !== undefined && page.rows === undefined) {
        void this.#loadAgain(page);
        return;
      }
    }
    const ahead = 200;
    if (!this.#isComplete && last + ahead >= this.count) void this.#loadNext();
  }

  /** Loads all pages, one after the other. */
  needAll(): void {
    this.#isAllNeeded = true;
    this.need(this.count - 1, this.count - 1);
  }

  /** Loads again what failed; the rows before it stay. */
  retry(): void {
    this.#failure = undefined;
    this.#changed();
    if (this.count === 0) this.need(0, 0);
  }

  close(): void {
    this.#abort.abort();
  }

  #pageOf(index: number): number {
    let low = 0;
    let high = this.#pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#pages[middle]?.start ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  async #loadNext(): Promise<void> {
    const page = await this.#load(this.#next);
    if (page === undefined) return;
    const { rows, next } = page;
    this.#pages.push({ start: this.count, count: rows.length, marker: this.#next, rows });
    this.#next = next;
    this.#isComplete = next === undefined;
    this.#dropFarFrom(this.#pages.length - 1);
    this.#changed();
    const isMore = this.#isAllNeeded && this.count < rowsToEndMax;
    if (isMore && next !== undefined && !this.#isLoading) void this.#loadNext();
  }

  async #loadAgain(page: HeldPage<Row>): Promise<void> {
    const loaded = await this.#load(page.marker);
    if (loaded === undefined) return;
    // The page may have more or fewer rows than before. It keeps its number of rows, so that later
    // pages keep their positions.
    page.rows = loaded.rows.slice(0, page.count);
    this.#dropFarFrom(this.#pages.indexOf(page));
    this.#changed();
  }

  async #load(marker: string | undefined): Promise<Page<Row> | undefined> {
    this.#isLoading = true;
    this.#changed();
    const { signal } = this.#abort;
    const onRead = (rows: number): void => {
      this.#readCount = rows;
      if (!signal.aborted) this.#changed();
    };
    const result = await this.#fetchPage(marker, { signal, onRead });
    this.#isLoading = false;
    if (signal.aborted) return undefined;
    if (result.ok) return result.value;
    this.#failure = result.failure;
    this.#changed();
    return undefined;
  }

  #dropFarFrom(centre: number): void {
    const half = pagesHeldMax / 2;
    this.#pages.forEach((page, at) => {
      if (Math.abs(at - centre) > half) page.rows = undefined;
    });
  }
}
