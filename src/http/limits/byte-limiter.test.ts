import { describe, expect, it } from "vitest";
import { ByteLimiter, waitingBytesMax, waitingMax } from "./processing-limits.ts";

/** Work items that end on demand, in a limiter of 10 bytes. */
function roomForTen() {
  const room = new ByteLimiter(10);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, bytes: number) =>
    room.within(bytes, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
      return name;
    });
  const end = async (name: string, work: Promise<string>) => {
    ends.get(name)?.();
    await work;
    await Promise.resolve();
  };
  return { room, running, begin, end };
}

describe("a byte limiter", () => {
  it("admits bodies up to its limit, the others in FIFO order", async () => {
    const { running, begin, end } = roomForTen();
    const first = begin("first", 6);
    const second = begin("second", 6);
    const third = begin("third", 2);
    expect(running).toEqual(["first"]);
    await end("first", first);
    expect(running).toEqual(["second", "third"]);
    await end("second", second);
    await end("third", third);
    expect(running).toEqual([]);
  });

  it("admits a body larger than its limit alone", async () => {
    const { running, begin, end } = roomForTen();
    const small = begin("small", 1);
    const large = begin("large", 11);
    const late = begin("late", 1);
    expect(running).toEqual(["small"]);
    await end("small", small);
    expect(running).toEqual(["large"]);
    await end("large", large);
    expect(running).toEqual(["late"]);
    await end("late", late);
  });

  it("frees the bytes of failed work", async () => {
    const { room, running, begin, end } = roomForTen();
    await expect(room.within(10, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const next = begin("next", 10);
    expect(running).toEqual(["next"]);
    await end("next", next);
  });

  it("is full while the queue has its maximum length", async () => {
    const { room, begin, end } = roomForTen();
    const first = begin("first", 10);
    for (let count = 0; count < waitingMax; count += 1) {
      expect(room.isFullFor(10)).toBe(false);
      void begin(`${count}`, 10);
    }
    expect(room.isFullFor(10)).toBe(true);
    await end("first", first);
    expect(room.isFullFor(10)).toBe(false);
  });

  it("is full while the queue has its maximum of bytes", async () => {
    const { room, begin, end } = roomForTen();
    const half = waitingBytesMax / 2;
    const first = begin("first", waitingBytesMax + 1);
    void begin("second", half);
    expect(room.isFullFor(half)).toBe(false);
    void begin("third", half);
    expect(room.isFullFor(1)).toBe(true);
    await end("first", first);
    expect(room.isFullFor(half)).toBe(false);
    expect(room.isFullFor(half + 1)).toBe(true);
  });

  it("is not full for a body that need not wait", () => {
    const { room, begin } = roomForTen();
    expect(room.isFullFor(waitingBytesMax + 1)).toBe(false);
    void begin("first", 4);
    expect(room.isFullFor(6)).toBe(false);
    expect(room.isFullFor(waitingBytesMax + 1)).toBe(true);
  });
});
