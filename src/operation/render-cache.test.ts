import { describe, expect, it } from "vitest";
import { RenderCache } from "./render-cache.ts";

describe("the render cache", () => {
  it("keeps one text per write and form", () => {
    const renderings = new RenderCache();
    renderings.set("key", { revision: 7, variant: 1, text: "seven" });
    expect(renderings.get("key", 7, 1)).toBe("seven");
    expect(renderings.get("key", 8, 1)).toBeUndefined();
    expect(renderings.get("key", 7, 2)).toBeUndefined();
    expect(renderings.get("other", 7, 1)).toBeUndefined();
  });

  it("stays within its limit and keeps recently used entries", () => {
    const renderings = new RenderCache(1000);
    const text = "x".repeat(96);
    renderings.set("kept", { revision: 1, variant: 0, text });
    for (let count = 0; count < 100; count += 1) {
      renderings.set(`k${count}`, { revision: 1, variant: 0, text });
      expect(renderings.get("kept", 1, 0)).toBe(text);
    }
    const known = Array.from({ length: 100 }, (_, count) => renderings.get(`k${count}`, 1, 0));
    expect(known.filter((each) => each !== undefined).length).toBeLessThan(12);
  });
});
