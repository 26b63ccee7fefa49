import { expect, it } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { RequestRates } from "./processing-limits.ts";

/** How many of 100 requests are admitted. */
function admitted(rates: RequestRates, perSecond: number, account = "a"): number {
  return Array.from({ length: 100 }, () => rates.admits(account, perSecond)).filter(Boolean).length;
}

it("admits a second's worth of requests at once, then as many per second", () => {
  const clock = manualClock();
  const rates = new RequestRates(clock);
  expect(admitted(rates, 10)).toBe(10);
  clock.advance(500);
  expect(admitted(rates, 10)).toBe(5);
  clock.advance(3_600_000);
  expect(admitted(rates, 10)).toBe(10);
});

it("limits each account separately, and follows a changed limit", () => {
  const clock = manualClock();
  const rates = new RequestRates(clock);
  expect(admitted(rates, 10)).toBe(10);
  expect(admitted(rates, 20, "b")).toBe(20);
  clock.advance(1000);
  expect(admitted(rates, 50)).toBe(50);
});

it("admits an equal part in each of several processes, at least one request", () => {
  const clock = manualClock();
  expect(admitted(new RequestRates(clock, 4), 40)).toBe(10);
  expect(admitted(new RequestRates(clock, 4), 2)).toBe(1);
});
