import { describe, expect, it } from "vitest";
import { MemoryBudget } from "../base/memory-budget.ts";
import { freeBytes } from "../process/bytes.ts";
import { Framer, framePrefix } from "./framing.ts";

const kibibyte = 1024;

function newFramer(budgetBytes: number) {
  const frames: number[] = [];
  const memory = new MemoryBudget(budgetBytes);
  const framer = new Framer(
    () => 8 * kibibyte * kibibyte,
    ({ length }) => frames.push(length),
    memory,
  );
  return { framer, memory, frames };
}

it("ignores the bytes after a frame that ends the connection", () => {
  const memory = new MemoryBudget(1024 * kibibyte);
  let frames = 0;
  const framer: Framer = new Framer(
    () => 512 * kibibyte,
    () => {
      frames += 1;
      framer.close();
    },
    memory,
  );
  const frame = Buffer.concat([framePrefix(1), Buffer.alloc(1)]);
  const begun = Buffer.concat([framePrefix(512 * kibibyte), Buffer.alloc(10)]);
  expect(framer.push(Buffer.concat([frame, frame, begun]))).toBe(false);
  expect([frames, memory.usedBytes]).toEqual([1, 0]);
});

describe("an incomplete frame", () => {
  it("knows how many bytes it lacks, which are copied and need not be kept", () => {
    let received: Buffer = Buffer.alloc(0);
    const framer = new Framer(
      () => 512 * kibibyte,
      (frame) => (received = frame),
    );
    expect(framer.missingBytes).toBe(0);
    framer.push(Buffer.concat([framePrefix(100 * kibibyte), Buffer.alloc(10, 1)]));
    const chunk = Buffer.alloc(64 * kibibyte, 1);
    expect(framer.missingBytes).toBe(100 * kibibyte - 10);
    framer.push(chunk);
    freeBytes(chunk);
    const rest = Buffer.alloc(framer.missingBytes, 1);
    framer.push(rest);
    freeBytes(rest);
    expect([chunk.length, rest.length, framer.missingBytes]).toEqual([0, 0, 0]);
    expect(received.equals(Buffer.alloc(100 * kibibyte, 1))).toBe(true);
  });

  it("takes memory for its bytes, not for the announced length", () => {
    const { framer, memory, frames } = newFramer(1024 * kibibyte);
    const length = 512 * kibibyte;
    expect(framer.push(framePrefix(length))).toBe(true);
    expect(framer.push(Buffer.alloc(1))).toBe(true);
    expect([memory.usedBytes, framer.isIncomplete]).toEqual([64 * kibibyte, true]);
    expect(framer.push(Buffer.alloc(100 * kibibyte))).toBe(true);
    expect(memory.usedBytes).toBe(128 * kibibyte);
    expect(framer.push(Buffer.alloc(length))).toBe(true);
    expect(frames).toEqual([length]);
    framer.close();
    expect(memory.usedBytes).toBe(0);
  });

  it("closes the connection if the budget is exhausted, and frees its memory", () => {
    const { framer, memory } = newFramer(128 * kibibyte);
    framer.push(framePrefix(512 * kibibyte));
    expect(framer.push(Buffer.alloc(128 * kibibyte))).toBe(true);
    expect(framer.push(Buffer.alloc(1))).toBe(false);
    framer.close();
    expect([memory.usedBytes, framer.isIncomplete]).toEqual([0, false]);
  });
});
