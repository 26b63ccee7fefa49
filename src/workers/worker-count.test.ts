import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { quotaCores, workerCountOf } from "./worker-count.ts";

it.each([
  ["max 100000\n", undefined],
  ["", undefined],
  ["150000 100000\n", 2],
  ["50000 100000\n", 1],
])("reads the CPU quota %j as %s cores", (text, cores) => {
  expect(quotaCores(text)).toBe(cores);
});

it("is the given number, or with auto at most the number of cores", () => {
  expect(workerCountOf(3)).toBe(3);
  expect(workerCountOf("auto")).toBeGreaterThanOrEqual(1);
  expect(workerCountOf("auto")).toBeLessThanOrEqual(availableParallelism());
});

it("is 1 on Windows, which has no sockets that workers could share", () => {
  expect([workerCountOf(3, "win32"), workerCountOf("auto", "win32")]).toEqual([1, 1]);
  expect(workerCountOf(3, "darwin")).toBe(3);
});
