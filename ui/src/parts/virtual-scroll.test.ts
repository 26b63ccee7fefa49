import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrollTo, windowAt } from "./virtual-scroll.ts";

const rowPixels = 36;
const heightPixels = 700;
const counts = fc.integer({ min: 1, max: 5_000_000 });

describe("rendered rows of a long list", () => {
  it("are at most the visible ones and a margin", () => {
    fc.assert(
      fc.property(counts, fc.double({ min: 0, max: 1, noNaN: true }), (rowCount, part) => {
        const viewport = { rowCount, rowPixels, heightPixels };
        const { spacePixels } = windowAt(viewport, 0);
        const scroll = part * Math.max(0, spacePixels - heightPixels);
        const { first, last } = windowAt(viewport, scroll);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(last).toBeLessThan(rowCount);
        expect(last - first).toBeLessThan(40);
        expect(spacePixels).toBeLessThanOrEqual(8_000_000);
      }),
    );
  });

  it("include any row after scrolling to it", () => {
    fc.assert(
      fc.property(counts, fc.nat(), (rowCount, any) => {
        const row = any % rowCount;
        const viewport = { rowCount, rowPixels, heightPixels };
        const { first, last } = windowAt(viewport, scrollTo(viewport, 0, row));
        expect(row).toBeGreaterThanOrEqual(first);
        expect(row).toBeLessThanOrEqual(last);
      }),
    );
  });
});
