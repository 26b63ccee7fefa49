import { expect, it } from "vitest";
import { progressBar } from "./progress-bar.ts";

function watched(isTTY: boolean) {
  const written: string[] = [];
  const time = { now: 0 };
  const terminal = { isTTY, write: (text: string) => written.push(text) };
  return { written, time, bar: progressBar(terminal, () => time.now) };
}

const mebibyte = 1024 * 1024;

it("redraws one line of a terminal, at most ten times per second", () => {
  const { written, time, bar } = watched(true);
  bar.begin("copying bytes", 100 * mebibyte);
  for (let count = 0; count < 50; count += 1) {
    time.now += 10;
    bar.add(mebibyte);
  }
  expect(written.length).toBeLessThan(8);
  bar.end();
  const last = written.at(-2) ?? "";
  expect(last).toContain("\r");
  expect(last).toContain(`${"█".repeat(15)}${"░".repeat(15)}  50%`);
  expect(last).toContain("50.0 MiB of 100.0 MiB, 100.0 MiB/s");
  expect(written.at(-1)).toBe("\n");
});

it("writes one line per step to a pipe, and shows 100 % of nothing", () => {
  const { written, bar } = watched(false);
  bar.begin("copying bytes", 0);
  bar.begin("copying records", 0);
  bar.add(1234);
  bar.end();
  bar.end();
  expect(written).toHaveLength(2);
  expect(written[0]).toContain("100%");
  expect(written[1]).toBe("copying records    1,234\n");
});
