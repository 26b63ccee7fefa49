import fc from "fast-check";
import { expect, it } from "vitest";
import type { ScanBounds, VersionedEntry, StateReader } from "./engine.ts";
import { keyOfText } from "../encoding/keys.ts";
import { cachingReader } from "./caching-reader.ts";

const letters = "bcdefghijklmnopqrstuvwxy".split("");

function listed(texts: readonly string[]): StateReader & { scans: number } {
  const entries = texts.map((text) => ({
    key: keyOfText(text),
    text,
    value: keyOfText(text),
    revision: 1,
  }));
  return {
    scans: 0,
    sequence: 1,
    ticks: 1n,
    clockOffset: 0n,
    priorityOwner: 0,
    get: (_key, text) => entries.find((entry) => entry.text === text),
    scan({ start, end, reverse }: ScanBounds, countMax: number): VersionedEntry[] {
      this.scans += 1;
      const within = entries.filter(({ text }) => text >= start && text < end);
      return (reverse ? within.toReversed() : within).slice(0, countMax);
    },
  };
}

const letter = fc.constantFrom("a", ...letters, "z");

it("returns the same as the state itself after any sequence of reads", () => {
  const asked = fc.array(
    fc.record({
      start: letter,
      end: letter,
      reverse: fc.boolean(),
      countMax: fc.integer({ min: 1, max: 6 }),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(fc.subarray(letters), asked, (texts, questions) => {
      const [plain, remembered] = [listed(texts), cachingReader(listed(texts))];
      for (const { start, end, reverse, countMax } of questions) {
        const bounds = { start, end, reverse };
        expect(remembered.scan(bounds, countMax)).toEqual(plain.scan(bounds, countMax));
      }
    }),
  );
});

it("scans the start of a range once although the end of the scans moves", () => {
  const state = listed(letters);
  const remembered = cachingReader(state);
  for (const end of ["m", "n", "o", "p"]) {
    void remembered.scan({ start: "b", end, reverse: false }, 3);
  }
  expect(state.scans).toBe(1);
});
