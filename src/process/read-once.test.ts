import { describe, expect, it } from "vitest";
import { ReadOnce } from "./read-once.ts";

const kibibyte = 1024;

describe("what was read once", () => {
  it("is found when it is read again, also the id zero", () => {
    const readOnce = new ReadOnce({ bytesMax: 64 * kibibyte, bytesPerSlot: kibibyte });
    for (const id of [0, 1, 2 ** 48 - 1]) {
      expect(readOnce.addOrFind(id, 10), String(id)).toBe(false);
      expect(readOnce.addOrFind(id, 10), String(id)).toBe(true);
    }
  });

  it("is forgotten when more was read than the cache can hold", () => {
    const readOnce = new ReadOnce({ bytesMax: 100, bytesPerSlot: 1 });
    readOnce.addOrFind(1, 40);
    readOnce.addOrFind(2, 60);
    expect(readOnce.addOrFind(1, 40)).toBe(true);
    readOnce.addOrFind(2, 61);
    expect(readOnce.addOrFind(1, 40)).toBe(false);
  });

  it("is found among as many as fit, if their ids are consecutive or multiples", () => {
    const count = 1000;
    for (const step of [1, 8, 65_536]) {
      const readOnce = new ReadOnce({ bytesMax: count * kibibyte, bytesPerSlot: kibibyte });
      for (let index = 0; index < count; index += 1) readOnce.addOrFind(index * step, kibibyte);
      let found = 0;
      for (let index = 0; index < count; index += 1) {
        if (readOnce.addOrFind(index * step, kibibyte)) found += 1;
      }
      expect(found, String(step)).toBe(count);
    }
  });
});
