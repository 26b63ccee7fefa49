import { expect, it } from "vitest";
import { limitsOf } from "./request-limits.ts";

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

it.each([
  [4 * gibibyte, 1, 128 * mebibyte, 10_000],
  [4 * gibibyte, 2, 64 * mebibyte, 5000],
  [64 * gibibyte, 4, 64 * mebibyte, 2500],
  [64 * gibibyte, 64, 32 * mebibyte, 256],
])("of %i bytes of memory for %i workers", (memory, workerCount, bodies, connections) => {
  expect(limitsOf(memory, workerCount)).toEqual({
    bodyBytesMax: bodies,
    connectionsMax: connections,
  });
});
