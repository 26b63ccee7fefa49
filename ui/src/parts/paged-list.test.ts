import { describe, expect, it } from "vitest";
import type { Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import { PagedList } from "./paged-list.ts";

const pageRows = 1000;
const total = 100_500;

/** A listing of numbers; the marker is the next number. */
function numbers() {
  const asked: (string | undefined)[] = [];
  const fetchPage = (marker: string | undefined): Promise<Result<Page<number>>> => {
    asked.push(marker);
    const start = Number(marker ?? 0);
    const end = Math.min(total, start + pageRows);
    const rows = Array.from({ length: end - start }, (_, index) => start + index);
    const next = end < total ? String(end) : undefined;
    return Promise.resolve({ ok: true, value: { rows, next } });
  };
  return { asked, fetchPage };
}

async function settle(list: PagedList<number>): Promise<void> {
  while (list.isLoading) await Promise.resolve();
}

describe("a paged list", () => {
  it("loads a page only when scrolling comes near it", async () => {
    const { asked, fetchPage } = numbers();
    const list = new PagedList(fetchPage, () => undefined);
    list.need(0, 20);
    await settle(list);
    list.need(100, 120);
    await settle(list);
    expect(asked).toEqual([undefined]);
    list.need(850, 870);
    await settle(list);
    expect(asked).toEqual([undefined, "1000"]);
    expect(list.count).toBe(2000);
  });

  it("drops distant pages and loads them again", async () => {
    const { asked, fetchPage } = numbers();
    const list = new PagedList(fetchPage, () => undefined);
    while (!list.isComplete) {
      list.need(list.count - 1, list.count - 1);
      await settle(list);
    }
    expect(list.count).toBe(total);
    expect(list.rowAt(total - 1)).toBe(total - 1);
    expect(list.rowAt(5)).toBeUndefined();
    const before = asked.length;
    list.need(0, 20);
    await settle(list);
    expect(list.rowAt(5)).toBe(5);
    expect(asked).toHaveLength(before + 1);
  });

  it("stops at a failure", async () => {
    let calls = 0;
    const failure = { status: 503, code: "ServerBusy", message: "busy" };
    const fetchPage = (): Promise<Result<Page<number>>> => {
      calls += 1;
      return Promise.resolve({ ok: false, failure });
    };
    const list = new PagedList(fetchPage, () => undefined);
    list.need(0, 20);
    await settle(list);
    list.need(0, 20);
    expect(calls).toBe(1);
    expect(list.failure).toBe(failure);
  });
});
