import { expect, it } from "vitest";
import type { Figures } from "../../scripts/bench/compare.ts";
import { costTable, lastToFirst } from "../../scripts/bench/report/cost-table.ts";

function figuresOf(cpuMicrosecondsPerRequest: number, perSecond: number): Figures {
  return {
    server: "etagere",
    perSecond,
    rounds: [perSecond],
    medianMilliseconds: 1,
    p99Milliseconds: 2,
    cpuMicrosecondsPerRequest,
    anonymousMegabytes: 100,
    slowestShare: 1,
    callersShare: 0.5,
    errors: 0,
  };
}

const put = {
  name: "put",
  title: "put 1 KiB",
  figures: [figuresOf(80, 1000), figuresOf(60, 1250)],
};

it("a comparison divides the CPU time on the last server by that on the first", () => {
  expect(lastToFirst(put)).toBe(0.75);
  expect(lastToFirst({ ...put, figures: [] })).toBeNaN();
});

it("the table has the costs of all servers, the ratio, then the rates", () => {
  expect(costTable(["20", "26"], [put], (ratio) => ratio.toFixed(2))).toBe(
    [
      "| operation | CPU µs, 20 | CPU µs, 26 | × | per second, 20 | per second, 26 |",
      "|---|---:|---:|---:|---:|---:|",
      "| put 1 KiB | 80.0 | 60.0 | 0.75 | 1,000 | 1,250 |",
    ].join("\n"),
  );
});
