import { expect, it } from "vitest";
import { ticksPerSecond } from "../../base/ticks.ts";
import { Attempts } from "./attempts.ts";

const second = ticksPerSecond;

function fail(attempts: Attempts, address: string, count: number, now = 0n): void {
  for (let each = 0; each < count; each += 1) attempts.failed(address, now);
}

it("lets an address wait after ten failures, until the first is a minute old", () => {
  const attempts = new Attempts();
  fail(attempts, "a", 9);
  expect(attempts.waitSeconds("a", 0n)).toBe(0);
  fail(attempts, "a", 1, 30n * second);
  expect(attempts.waitSeconds("a", 30n * second)).toBe(30);
  expect(attempts.waitSeconds("a", 60n * second)).toBe(0);
});

it("lets nobody else wait with it", () => {
  const attempts = new Attempts();
  fail(attempts, "a", 50);
  expect(attempts.waitSeconds("b", 0n)).toBe(0);
});

it("lets everybody wait for one who has many addresses, and remembers only so many", () => {
  const attempts = new Attempts();
  for (let each = 0; each < 2000; each += 1) attempts.failed(String(each), 0n);
  expect(attempts.waitSeconds("somebody else", 0n)).toBe(60);
  expect(attempts.waitSeconds("somebody else", 60n * second)).toBe(0);
});
