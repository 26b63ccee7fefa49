import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LruMap, RecentMap } from "./memo.ts";

describe("a map of recent entries", () => {
  it("returns the last value of a key, or nothing, under any operations", () => {
    const step = fc.record({
      kind: fc.constantFrom("set", "get", "delete"),
      key: fc.constantFrom("a", "b", "c", "d", "e"),
      value: fc.nat(9),
    });
    const property = fc.property(fc.array(step), (steps) => {
      const map = new RecentMap<{ readonly value: number }>(4);
      const model = new Map<string, number>();
      for (const { kind, key, value } of steps) {
        if (kind === "set") {
          map.set(key, { value });
          model.set(key, value);
        } else if (kind === "delete") {
          map.delete(key);
          model.delete(key);
        } else {
          const found = map.get(key);
          if (found !== undefined) expect(found.value).toBe(model.get(key));
        }
        expect(map.size).toBeLessThanOrEqual(4);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("keeps entries in use and evicts the others", () => {
    const map = new RecentMap<string>(4);
    for (const key of ["a", "b", "c"]) map.set(key, key);
    expect(map.get("a")).toBe("a");
    map.set("d", "d");
    expect(["a", "c", "d"].map((key) => map.get(key))).toEqual(["a", "c", "d"]);
    expect(map.get("b")).toBeUndefined();
  });

  it("keeps at least the last half of its bound", () => {
    const map = new RecentMap<number, number>(100);
    for (let key = 0; key < 1000; key += 1) map.set(key, key);
    for (let key = 950; key < 1000; key += 1) expect(map.get(key)).toBe(key);
    expect(map.size).toBeLessThanOrEqual(100);
  });

  it("bounds the total weight, also when entries are replaced", () => {
    const map = new RecentMap<string>(100, {
      weigh: (key, text) => key.length + text.length,
    });
    for (let index = 0; index < 200; index += 1) map.set("a", "x".repeat(index % 40));
    expect(map.get("a")).toHaveLength(39);
    let weight = 0;
    const keys = Array.from({ length: 50 }, (_, index) => String(index).padStart(2, "0"));
    for (const key of keys) map.set(key, "y".repeat(8));
    for (const key of keys) weight += map.get(key) === undefined ? 0 : 10;
    expect(weight).toBeGreaterThanOrEqual(50);
    expect(weight).toBeLessThanOrEqual(100);
  });

  it("does not keep an entry heavier than a generation, nor the value it replaces", () => {
    const map = new RecentMap<string>(10, { weigh: (_key, text) => text.length });
    map.set("a", "small");
    map.set("a", "too long");
    expect(map.get("a")).toBeUndefined();
    const none = new RecentMap<string>(0, { weigh: (_key, text) => text.length });
    none.set("a", "x");
    expect(none.get("a")).toBeUndefined();
  });
});

describe("a map of recent entries that renews them", () => {
  it("copies an entry that is used again into the young map, and no other", () => {
    const renewed: string[] = [];
    const map = new RecentMap<{ readonly name: string; readonly copies: number }>(4, {
      renew({ name, copies }) {
        renewed.push(name);
        return { name, copies: copies + 1 };
      },
    });
    for (const name of ["a", "b", "c"]) map.set(name, { name, copies: 0 });
    for (let reads = 0; reads < 3; reads += 1) expect(map.get("a")?.copies).toBe(1);
    map.set("d", { name: "d", copies: 0 });
    expect(map.get("a")?.copies).toBe(2);
    expect(renewed).toEqual(["a", "a"]);
  });
});

describe("a map that evicts what was used longest ago", () => {
  it("keeps what a list ordered by use keeps, and reports what it removes", () => {
    const step = fc.record({
      kind: fc.constantFrom("set", "set again", "get", "delete"),
      key: fc.constantFrom("a", "b", "c", "d", "e", "f"),
      weight: fc.integer({ min: 1, max: 12 }),
    });
    const property = fc.property(fc.array(step), (steps) => {
      const removed: object[] = [];
      const map = new LruMap<{ readonly weight: number }>({
        weightMax: 10,
        weigh: ({ weight }) => weight,
        onRemove: (value) => removed.push(value),
      });
      // From the least recently used to the last.
      let model: { key: string; value: { readonly weight: number } }[] = [];
      const expected: object[] = [];
      for (const { kind, key, weight } of steps) {
        const known = model.find((each) => each.key === key);
        model = model.filter((each) => each.key !== key);
        if (kind === "get") {
          expect(map.get(key)).toBe(known?.value);
          if (known !== undefined) model.push(known);
          continue;
        }
        if (kind === "set again" && known !== undefined) {
          map.set(key, known.value);
          model.push(known);
          continue;
        }
        if (known !== undefined) expected.push(known.value);
        if (kind === "delete") map.delete(key);
        else {
          const value = { weight };
          map.set(key, value);
          if (weight > 10) {
            expected.push(value);
          } else {
            model.push({ key, value });
            while (model.reduce((sum, each) => sum + each.value.weight, 0) > 10) {
              expected.push(model.shift()!.value);
            }
          }
        }
        expect(removed).toEqual(expected);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("keeps all others if an entry alone exceeds the limit", () => {
    const removed: string[] = [];
    const map = new LruMap<string>({
      weightMax: 10,
      weigh: (text) => text.length,
      onRemove: (text) => removed.push(text),
    });
    for (const text of ["one", "two", "three"]) map.set(text, text);
    expect(removed).toEqual(["one"]);
    map.set("two", "longer than ten");
    expect(removed).toEqual(["one", "two", "longer than ten"]);
    expect(map.get("two")).toBeUndefined();
    expect(map.get("three")).toBe("three");
  });

  it("does not remove a value that is set again", () => {
    const removed: string[] = [];
    const map = new LruMap<string>({
      weightMax: 10,
      weigh: (text) => text.length,
      onRemove: (text) => removed.push(text),
    });
    for (const text of ["abc", "def", "ghi", "abc", "jkl"]) map.set(text, text);
    expect(removed).toEqual(["def"]);
    expect(map.get("abc")).toBe("abc");
  });
});
