import { describe, expect, it } from "vitest";
import type { Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import { everyRow, matchingPages, sortedPage, sortedRowsMax } from "./arranged-pages.ts";
import { substringTest } from "./name-filter.ts";
import { comparison, nextSort } from "./sorting.ts";

const pageRows = 1000;

/** A listing of numbers; the marker is the next number. */
function numbers(total: number) {
  return (marker: string | undefined): Promise<Result<Page<number>>> => {
    const start = Number(marker ?? 0);
    const end = Math.min(total, start + pageRows);
    const rows = Array.from({ length: end - start }, (_, index) => start + index);
    return Promise.resolve({ ok: true, value: { rows, next: end < total ? `${end}` : undefined } });
  };
}

function loading() {
  const abort = new AbortController();
  const read: number[] = [];
  return { abort, read, signal: abort.signal, onRead: (rows: number) => void read.push(rows) };
}

describe("a search", () => {
  it("reads on until a page has enough matches, and reports how much it read", async () => {
    const state = loading();
    const fetchPage = matchingPages(numbers(10_000), (value) => value % 10 === 7);
    const page = await fetchPage(undefined, state);
    expect(page).toMatchObject({ ok: true, value: { next: "2000" } });
    expect(page.ok && page.value.rows).toHaveLength(200);
    expect(state.read).toEqual([1000, 2000]);
    const rare = matchingPages(numbers(5000), (value) => value === 4321);
    expect(await rare(undefined, state)).toEqual({
      ok: true,
      value: { rows: [4321], next: undefined },
    });
  });

  it("ends when the list is closed", async () => {
    const state = loading();
    state.abort.abort();
    const never = matchingPages(numbers(1_000_000), () => false);
    expect(await never(undefined, state)).toMatchObject({ value: { rows: [], next: "1000" } });
  });

  it("ignores case, and leaves prefixes to the service", () => {
    expect(substringTest({ text: "AB", mode: "contains" })?.("xaBy")).toBe(true);
    expect(substringTest({ text: "ab", mode: "prefix" })).toBeUndefined();
  });
});

describe("a sorted list", () => {
  it("has all rows in one page, groups first", async () => {
    const keys = { Name: (value: number) => value };
    const compare = comparison(keys, { by: "Name", isDescending: true }, (value) => value % 2);
    const page = await sortedPage(numbers(2500), compare)(undefined, loading());
    const rows = page.ok ? page.value.rows : [];
    expect([rows.length, rows[0], rows[1], rows.at(-1)]).toEqual([2500, 2498, 2496, 1]);
  });

  it("is limited", async () => {
    const page = await sortedPage(numbers(sortedRowsMax + 1), () => 0)(undefined, loading());
    expect(page).toMatchObject({ ok: false, failure: { code: "TooManyRows" } });
  });

  it("changes from ascending to descending to the order of the service", () => {
    const ascending = nextSort(undefined, "Size");
    const descending = nextSort(ascending, "Size");
    expect([ascending?.isDescending, descending?.isDescending]).toEqual([false, true]);
    expect(nextSort(descending, "Size")).toBeUndefined();
  });
});

describe("every row of a list", () => {
  it("is read page by page; a failure ends it", async () => {
    let count = 0;
    for await (const row of everyRow(numbers(2001), loading().signal)) count += row.ok ? 1 : 0;
    expect(count).toBe(2001);
    const failure = { status: 503, code: "ServerBusy", message: "busy" };
    const broken = everyRow<number>(
      () => Promise.resolve({ ok: false, failure }),
      loading().signal,
    );
    expect(await broken.next()).toEqual({ done: false, value: { ok: false, failure } });
    expect((await broken.next()).done).toBe(true);
  });
});
