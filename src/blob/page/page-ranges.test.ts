import fc from "fast-check";
import { expect, it } from "vitest";
import type { ContentRef, Slice } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import { changedPages, validPages } from "./page-ranges.ts";

/** One number for each page: 0 for a hole, else which write it comes from. */
type Pages = readonly number[];
const page = 512;

/** Neighbouring pages of one write lie together, as a write of several pages leaves them. */
function contentOf(pages: Pages): ContentRef {
  const slices: Slice[] = [];
  for (const [index, write] of pages.entries()) {
    if (write === 0) continue;
    const source = { extent: BigInt(write), offset: index * page };
    const last = slices.at(-1);
    if (last !== undefined && pages[index - 1] === write) {
      slices[slices.length - 1] = { ...last, length: last.length + page };
    } else slices.push({ at: index * page, length: page, source });
  }
  return { kind: "slices", length: pages.length * page, slices };
}

const view = {
  async *slices(ref: ContentRef, from: number, length: number) {
    if (ref.kind !== "slices") return;
    yield ref.slices.filter(({ at, length: own }) => at + own > from && at < from + length);
  },
} as unknown as RecordView;

const pagesOf = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 3 }), { minLength: length, maxLength: length });
const whole = { span: { from: 0, length: 12 * page }, rangesMax: 1000 };

/** The kind of each page in the response; empty if absent. */
function spread(ranges: readonly { kind: string; from: number; length: number }[]): string[] {
  const kinds = Array.from({ length: 12 }, () => "");
  for (const { kind, from, length } of ranges) {
    for (let at = from; at < from + length; at += page) kinds[at / page] = kind;
  }
  return kinds;
}

it("returns exactly the pages that were written", async () => {
  await fc.assert(
    fc.asyncProperty(pagesOf(12), async (pages) => {
      const { ranges } = await validPages(view, contentOf(pages), whole);
      expect(spread(ranges)).toEqual(pages.map((write) => (write === 0 ? "" : "page")));
      const touching = ranges.some(({ from }, index) => {
        const last = ranges[index - 1];
        return last !== undefined && last.from + last.length >= from;
      });
      expect(touching).toBe(false);
    }),
  );
});

it("returns what changed between the first content and the last, also if changed repeatedly", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(pagesOf(12), { minLength: 2, maxLength: 4 }), async (states) => {
      const { ranges } = await changedPages(view, states.map(contentOf), whole);
      const last = states.at(-1) ?? [];
      const expected = last.map((write, index) => {
        const seen = new Set(states.map((pages) => pages[index]));
        if (seen.size === 1) return "";
        return write === 0 ? "clear" : "page";
      });
      expect(spread(ranges)).toEqual(expected);
    }),
  );
});

it("continues after a full response at its marker", async () => {
  await fc.assert(
    fc.asyncProperty(pagesOf(12), fc.integer({ min: 1, max: 3 }), async (pages, rangesMax) => {
      const all = await validPages(view, contentOf(pages), whole);
      const collected: unknown[] = [];
      let from: number | undefined = 0;
      while (from !== undefined) {
        const span = { from, length: 12 * page - from };
        const part = await validPages(view, contentOf(pages), { span, rangesMax });
        collected.push(...part.ranges);
        from = part.next;
      }
      expect(collected).toEqual(all.ranges);
    }),
  );
});
