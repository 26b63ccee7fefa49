import { describe, expect, it } from "vitest";
import { contentOf, testFile, testShare } from "../../../tests/harness/file-decisions.ts";
import { clearBytes, cutSpan, resizeContent, writeBytes } from "./write-rules.ts";

const node = testFile({ content: contentOf(1000), allocated: 1000 });

describe("a write of 100 bytes to a file of 1000", () => {
  /** Offset, bytes written in this range before; allocated and counted bytes after. */
  it.each([
    [0, 0, 1100, 1000],
    [0, 40, 1060, 1000],
    [0, 100, 1000, 1000],
    [950, 50, 1050, 1050],
    [2000, 0, 1100, 2100],
  ])("at %d, overwriting %d: allocated %d, counted %d", (at, covered, allocated, counted) => {
    const received = { length: 100, pieces: [] };
    const time = { newETag: 20n, lastWrite: "now" } as const;
    const { next } = writeBytes({ node, at, received, covered, ...time });
    expect(next).toMatchObject({ allocated, counted });
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
