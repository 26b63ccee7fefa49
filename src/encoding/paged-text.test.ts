import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newLoopShare } from "../base/loop-share.ts";
import { realClock } from "../host/world.ts";
import { PagedText, writePieces } from "./paged-text.ts";

const pageBytes = 64 * 1024;

function textOf(paged: PagedText): string {
  return Buffer.concat(paged.pieces()).toString("utf8");
}

describe("text in pages", () => {
  it("contains the appended texts in order, for pieces of any length", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom("", "é".repeat(7000), "x".repeat(pageBytes), "€".repeat(pageBytes)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), piece, fc.boolean(), (pieces, first, raw) => {
        const paged = new PagedText();
        for (const text of pieces) {
          if (raw) paged.appendBytes(Buffer.from(text));
          else paged.append(text);
        }
        paged.prepend(first);
        const expected = Buffer.from([first, ...pieces].join(""));
        expect(paged.length).toBe(expected.length);
        expect(textOf(paged)).toBe(expected.toString());
        paged.release();
      }),
    );
  });

  it("reuses released pages, and never one that is still in use", () => {
    const first = new PagedText();
    first.append("a".repeat(20_000));
    const second = new PagedText();
    second.append("b".repeat(20_000));
    const [pageOfFirst] = first.pieces();
    first.release();
    first.release();
    const third = new PagedText();
    const fourth = new PagedText();
    third.append("c".repeat(20_000));
    fourth.append("d".repeat(20_000));
    expect(third.pieces()[0]?.buffer).toBe(pageOfFirst?.buffer);
    expect([second, third, fourth].map(textOf)).toEqual(
      ["b", "c", "d"].map((letter) => letter.repeat(20_000)),
    );
  });
});

/** On a busy machine a few milliseconds may pass between two lines of a test. */
const still = { ...realClock(), monotonic: () => 0n };

describe("writing pieces", () => {
  it("is synchronous for a short text", () => {
    const paged = writePieces(newLoopShare(still), ["a", Buffer.from("b"), "c"]);
    if (paged instanceof Promise) throw new Error("a short text must not wait");
    expect(textOf(paged)).toBe("abc");
  });

  it("lets other work run between the pieces of a long text", async () => {
    let iterations = 0;
    let isOver = false;
    const count = (): void => {
      iterations += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const rendered: number[] = [];
    const pieces = function* () {
      for (let at = 0; at < 5000; at += 1) {
        rendered.push(iterations);
        yield "x".repeat(100);
      }
    };
    const paged = await writePieces(newLoopShare(still), pieces());
    isOver = true;
    expect(paged.length).toBe(500_000);
    expect(new Set(rendered).size).toBeGreaterThan(5);
  });
});
