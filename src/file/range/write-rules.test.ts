import { describe, expect, it } from "vitest";
import { contentOf, testFile, testShare } from "../testing.ts";
import { clearBytes, cutSpan, resizeContent, writeBytes } from "./write-rules.ts";

const quota = 1024n ** 3n;
const node = testFile({ content: contentOf(1000), allocated: 1000 });

describe("a write of 100 bytes counts against the quota", () => {
  /** Bytes of the share before, bytes written in this range before, allocated bytes after. */
  const cases = [
    [0n, 0, 1100],
    [0n, 40, 1060],
    [0n, 100, 1000],
    [quota - 100n, 0, 1100],
    [quota - 99n, 0, "disk-full"],
    [quota - 99n, 1, 1099],
    [quota, 100, 1000],
    [quota + 5n, 100, 1000],
  ] as const;
  it.each(cases)("used %d, overwritten %d: %s", (used, covered, expected) => {
    const received = { length: 100, pieces: [] };
    const time = { newETag: 20n, lastWrite: "now" } as const;
    const written = writeBytes({ share: testShare, node, at: 0, received, used, covered, ...time });
    expect(written === "disk-full" ? written : written.next.allocated).toBe(expected);
  });
});

describe("the times of a written file", () => {
  it.each([
    ["now", 20n],
    [undefined, 20n],
    ["preserve", 2n],
  ] as const)("%s", (lastWrite, expected) => {
    const cleared = { share: testShare, node, span: span(0, 512), covered: 0 };
    const { next } = clearBytes({ ...cleared, newETag: 20n, lastWrite });
    expect([next.lastWrite, next.change]).toEqual([expected, 20n]);
  });
});

function span(from: number, length: number) {
  return { from, length };
}

describe("cleared bytes", () => {
  /** Span, bytes of it that were written, bytes that the file holds afterwards. */
  it.each([
    [span(0, 512), 512, 488],
    [span(0, 500), 500, 1000],
    [span(100, 924), 900, 512],
    [span(0, 512), 0, 1000],
  ])("%o with %d written: %d left", ({ from, length }, covered, expected) => {
    const time = { newETag: 20n, lastWrite: "now" } as const;
    const cleared = { share: testShare, node, span: { from, length }, covered };
    const { next } = clearBytes({ ...cleared, ...time });
    expect(next.allocated).toBe(expected);
  });
});

describe("a new length", () => {
  it.each([
    [400, span(400, 600), true],
    [1000, span(1000, 0), false],
    [5000, span(1000, 0), true],
    [0, span(0, 1000), true],
  ])("%d cuts %o, changes the content: %s", (length, cut, changes) => {
    expect(cutSpan(node, length)).toEqual(cut);
    expect(resizeContent(node, length) !== undefined).toBe(changes);
  });
});
