import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasMarks, matchesOf, mergedText, mergeLines } from "./merge.ts";

const merge = (base: string, mine: string, theirs: string): string =>
  mergedText(mergeLines({ base, mine, theirs }), []);

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

describe("a merge of lines", () => {
  it("takes changes of one side", () => {
    expect(merge("1\n2\n3\n4\n5", "one\n2\n3\n4\n5", "1\n2\n3\n4\nfive")).toBe(
      "one\n2\n3\n4\nfive",
    );
    expect(merge("1\n2\n3", "1\n3", "1\n2\n3\n4")).toBe("1\n3\n4");
  });

  it("takes an equal change of both sides once", () => {
    expect(merge("1\n2\n3", "1\ntwo\n3", "1\ntwo\n3")).toBe("1\ntwo\n3");
  });

  it("marks conflicts until they are decided", () => {
    const chunks = mergeLines({ base: "1\n2\n3", mine: "1\nmine\n3", theirs: "1\ntheirs\n3" });
    expect(hasMarks(mergedText(chunks, []))).toBe(true);
    expect(mergedText(chunks, ["mine"])).toBe("1\nmine\n3");
    expect(mergedText(chunks, ["theirs"])).toBe("1\ntheirs\n3");
    expect(mergedText(chunks, ["both"])).toBe("1\ntheirs\nmine\n3");
  });

  it("is the other side if one side changed nothing", () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(merge(base, base, other)).toBe(other);
        expect(merge(base, other, base)).toBe(other);
        expect(merge(base, other, other)).toBe(other);
      }),
    );
  });

  it("loses no line: each side can be restored from the chunks", () => {
    fc.assert(
      fc.property(text, text, text, (base, mine, theirs) => {
        const chunks = mergeLines({ base, mine, theirs });
        expect(chunks.flatMap((chunk) => chunk.mine).join("\n")).toBe(mine);
        expect(chunks.flatMap((chunk) => chunk.theirs).join("\n")).toBe(theirs);
        expect(chunks.flatMap((chunk) => chunk.base).join("\n")).toBe(base);
      }),
    );
  });
});

describe("matching lines", () => {
  it("finds equal lines only, in rising order", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [from, to] = [one.split("\n"), other.split("\n")];
        let last = -1;
        matchesOf(from, to).forEach((at, line) => {
          if (at < 0) return;
          expect(to[at]).toBe(from[line]);
          expect(at).toBeGreaterThan(last);
          last = at;
        });
      }),
    );
  });
});
