import fc from "fast-check";
import { expect, it } from "vitest";
import type { ContentRef, Slice } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import { addCleared, type ClearedRange } from "./cleared-ranges.ts";
import { changedPages, validPages, type RangePage } from "./get-page-ranges.ts";

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

interface Change {
  readonly from: number;
  readonly count: number;
  readonly clears: boolean;
}

const changesOf = fc.array(
  fc.record({
    from: fc.integer({ min: 0, max: 11 }),
    count: fc.integer({ min: 1, max: 12 }),
    clears: fc.boolean(),
  }),
  { maxLength: 8 },
);

/** Applies writes and clears to pages as the operations do, and notes what each page became. */
function apply(before: Pages, changes: readonly Change[]) {
  const after = [...before];
  const kinds = before.map(() => "");
  let cleared: readonly ClearedRange[] = [];
  for (const [index, { from, count, clears }] of changes.entries()) {
    const end = Math.min(from + count, before.length);
    // Ids of later writes differ from those of the first content.
    after.fill(clears ? 0 : 10 + index, from, end);
    kinds.fill(clears ? "clear" : "page", from, end);
    if (clears) cleared = addCleared(cleared, [from * page, end * page, BigInt(index + 1)]);
  }
  return { after, kinds, cleared };
}

it("returns what changed since, also pages that were written and cleared again", async () => {
  await fc.assert(
    fc.asyncProperty(pagesOf(12), changesOf, async (first, changes) => {
      const { after, kinds, cleared } = apply(first, changes);
      const contents = { before: contentOf(first), after: contentOf(after), cleared };
      const { ranges } = await changedPages(view, contents, whole);
      expect(spread(ranges)).toEqual(kinds);
    }),
  );
});

it("continues a comparison in the order of offsets, pages and cleared pages together", async () => {
  await fc.assert(
    fc.asyncProperty(pagesOf(12), changesOf, async (first, changes) => {
      const { after, cleared } = apply(first, changes);
      const contents = { before: contentOf(first), after: contentOf(after), cleared };
      const all = await changedPages(view, contents, whole);
      const collected: unknown[] = [];
      let from: number | undefined = 0;
      while (from !== undefined) {
        const span = { from, length: 12 * page - from };
        const part: RangePage = await changedPages(view, contents, { span, rangesMax: 1 });
        expect(part.ranges.length).toBeLessThanOrEqual(1);
        collected.push(...part.ranges);
        from = part.next;
      }
      expect(collected).toEqual(all.ranges);
    }),
  );
});

it("keeps a bounded number of cleared ranges, which include all that were cleared", () => {
  let cleared: readonly ClearedRange[] = [];
  for (let index = 0; index < 1000; index += 1) {
    const from = ((index * 37) % 1000) * 2 * page;
    cleared = addCleared(cleared, [from, from + page, BigInt(index + 1)]);
  }
  expect(cleared.length).toBeLessThanOrEqual(64);
  for (let index = 0; index < 1000; index += 1) {
    const at = index * 2 * page;
    expect(cleared.some(([from, end]) => from <= at && at + page <= end)).toBe(true);
  }
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
