import { expect, it } from "vitest";
import { ticksPerSecond } from "../../base/ticks.ts";
import { FailureLimiter } from "./admin-auth.ts";

const second = ticksPerSecond;

function fail(attempts: FailureLimiter, address: string, count: number, now = 0n): void {
  for (let each = 0; each < count; each += 1) attempts.failed(address, now);
}

it("blocks an address after ten failures until the first is a minute old", () => {
  const attempts = new FailureLimiter();
  fail(attempts, "a", 9);
  expect(attempts.waitSeconds("a", 0n)).toBe(0);
  fail(attempts, "a", 1, 30n * second);
  expect(attempts.waitSeconds("a", 30n * second)).toBe(30);
  expect(attempts.waitSeconds("a", 60n * second)).toBe(0);
});

it("does not block other addresses", () => {
  const attempts = new FailureLimiter();
  fail(attempts, "a", 50);
  expect(attempts.waitSeconds("b", 0n)).toBe(0);
});

it("blocks all addresses after many failures, and keeps a bounded number of addresses", () => {
  const attempts = new FailureLimiter();
  for (let each = 0; each < 2000; each += 1) attempts.failed(String(each), 0n);
  expect(attempts.waitSeconds("another address", 0n)).toBe(60);
  expect(attempts.waitSeconds("another address", 60n * second)).toBe(0);
});
