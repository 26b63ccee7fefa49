import { describe, expect, it } from "vitest";
import { spend, unitsPerTurnMax } from "./loop-share.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("what one turn of the event loop may spend", () => {
  it("is shared by all, and there again in the next turn", async () => {
    await turn();
    expect(spend(unitsPerTurnMax - 2)).toBeUndefined();
    expect(spend(1)).toBeUndefined();
    const first = spend(1);
    expect(first).toBeInstanceOf(Promise);
    expect(spend(1)).toBe(first);
    await first;
    expect(spend(1)).toBeUndefined();
  });

  it("lets a turn pass between pieces", async () => {
    await turn();
    let turns = 0;
    const counting = { isOver: false };
    const count = async (): Promise<void> => {
      for (; !counting.isOver; turns += 1) await turn();
    };
    const counted = count();
    const seen: number[] = [];
    for (let piece = 0; piece < 5; piece += 1) {
      seen.push(turns);
      await spend(unitsPerTurnMax);
    }
    counting.isOver = true;
    await counted;
    expect(new Set(seen).size).toBe(5);
  });
});
