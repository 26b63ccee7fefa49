import { expect, it } from "vitest";
import { quantile, quantileBound, since } from "./figures.ts";

const bounds = [1, 2, 4];

it("interpolates quantiles between bounds, and returns bounds for whole numbers", () => {
  const sample = { bounds, counts: [10, 0, 10], count: 20, sum: 0 };
  expect(quantile(sample, 0.25)).toBeCloseTo(0.5);
  expect(quantile(sample, 0.75)).toBeCloseTo(3);
  expect(quantileBound(sample, 0.5)).toBe(1);
  expect(quantileBound(sample, 0.51)).toBe(4);
});

it("returns the last bound for larger values, and undefined without observations", () => {
  const beyond = { bounds, counts: [0, 0, 0], count: 3, sum: 300 };
  expect(quantile(beyond, 0.5)).toBe(4);
  expect(quantileBound(beyond, 0.5)).toBe(4);
  const none = { bounds, counts: [0, 0, 0], count: 0, sum: 0 };
  expect(quantile(none, 0.5)).toBeUndefined();
  expect(quantileBound(none, 0.5)).toBeUndefined();
});

it("subtracts an earlier sample", () => {
  const before = { bounds, counts: [1, 1, 0], count: 2, sum: 3 };
  const now = { bounds, counts: [1, 3, 1], count: 6, sum: 20 };
  expect(since(before, now)).toEqual({ bounds, counts: [0, 2, 1], count: 4, sum: 17 });
  expect(since(undefined, now)).toBe(now);
});
