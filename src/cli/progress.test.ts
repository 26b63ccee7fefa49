import { expect, it } from "vitest";
import { progressDisplay } from "./progress.ts";

function shown(terminal: { isTTY?: boolean; columns?: number; json?: boolean }) {
  const written: string[] = [];
  const time = { now: 0 };
  const { json = false, ...rest } = terminal;
  const output = { ...rest, write: (text: string) => written.push(text) };
  const display = progressDisplay({ output, now: () => time.now, json });
  return { written, time, display };
}

const mebibyte = 1024 * 1024;

it("redraws one line of a terminal, at most ten times per second", () => {
  const { written, time, display } = shown({ isTTY: true, columns: 120 });
  display.begin({ what: "copying contents", total: { bytes: 100 * mebibyte } });
  for (let count = 0; count < 200; count += 1) {
    time.now += 10;
    display.add({ bytes: mebibyte / 4 });
  }
  expect(written.length).toBeLessThan(22);
  display.end();
  const last = written.at(-2) ?? "";
  expect(last).toContain("\r");
  expect(last).toContain(`${"█".repeat(15)}${"░".repeat(15)}  50%`);
  expect(last).toContain("50.0 MiB of 100.0 MiB, 25.0 MiB/s, 2 s left");
  expect(written.at(-1)).toBe("\n");
});

it("fits any width, also where the terminal reports 0 columns", () => {
  for (const [columns, widthMax] of [
    [0, 79],
    [40, 39],
    [10, 9],
  ] as const) {
    const { written, time, display } = shown({ isTTY: true, columns });
    display.begin({ what: "checking", total: { items: 5002, bytes: 3 * mebibyte } });
    time.now += 2000;
    display.add({ items: 1234, bytes: mebibyte });
    display.end();
    const lines = written.map((text) => text.replace("\r\u001b[K", "").replace("\n", ""));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(widthMax);
    expect(lines[0]).toContain("checking");
  }
});

it("writes a line per step to a pipe, and one every 10 s", () => {
  const { written, time, display } = shown({});
  display.begin({ what: "checking", total: { items: 4000, bytes: 0 } });
  for (const items of [1000, 1000, 2000]) {
    time.now += 6000;
    display.add({ items });
  }
  display.begin({ what: "copying records", total: {} });
  display.add({ items: 1234 });
  display.end();
  display.end();
  expect(written).toEqual([
    "checking: 50%, 2,000 of 4,000 records, 167/s, 12 s left\n",
    "checking: 100%, 4,000 of 4,000 records, 222/s\n",
    "copying records: 1,234 records, 0/s\n",
  ]);
});

it("estimates by bytes and items together: an item counts as 1 KiB", () => {
  const { written, time, display } = shown({});
  display.begin({ what: "importing", total: { items: 1024, bytes: mebibyte } });
  time.now += 90_000;
  display.add({ items: 512 });
  display.end();
  expect(written[0]).toContain("25%, 512 of 1,024 records, 0 bytes of 1.0 MiB");
  expect(written[0]).toContain("4 min 30 s left");
});

it("writes JSON once a second", () => {
  const { written, time, display } = shown({ isTTY: true, json: true });
  display.begin({ what: "loading", total: { bytes: 1000 } });
  for (let count = 0; count < 5; count += 1) {
    time.now += 400;
    display.add({ bytes: 100 });
  }
  display.end();
  expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      progress: {
        step: "loading",
        done: { items: 0, bytes: 300 },
        total: { bytes: 1000 },
        share: 0.3,
        seconds: 1.2,
        secondsLeft: expect.closeTo(2.8),
      },
    },
    { progress: expect.objectContaining({ done: { items: 0, bytes: 500 }, seconds: 2 }) },
  ]);
});
