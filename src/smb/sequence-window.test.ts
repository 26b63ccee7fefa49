import { describe, expect, it } from "vitest";
import { creditsMax, SequenceWindow } from "./connection.ts";

describe("command sequence window", () => {
  it("initially contains only id 0", () => {
    const window = new SequenceWindow();
    expect(window.take(1n, 1)).toBe(false);
    expect(window.take(0n, 1)).toBe(true);
    expect(window.take(0n, 1)).toBe(false);
  });

  it("accepts granted ids in any order, each once", () => {
    const window = new SequenceWindow();
    window.take(0n, 1);
    expect(window.grant(4, 1)).toBe(4);
    expect(window.take(3n, 2)).toBe(true);
    expect(window.take(1n, 1)).toBe(true);
    expect(window.take(3n, 1)).toBe(false);
    expect(window.take(2n, 1)).toBe(true);
    expect(window.take(5n, 1)).toBe(false);
  });

  it("grants at most the limit and always leaves the client one credit", () => {
    const window = new SequenceWindow();
    window.take(0n, 1);
    expect(window.grant(0xffff, 1)).toBe(creditsMax);
    expect(window.grant(1, 1)).toBe(0);
    expect(window.take(1n, creditsMax)).toBe(true);
    expect(window.grant(0, 0)).toBe(1);
  });
});
