// Files that were changed at random places: a query ends with rows or with one error.
import { newLoopShare } from "../../../base/loop-share.ts";
import { realClock } from "../../../host/world.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FatalQueryError } from "../records.ts";
import { pageHeaderOf, runsOf } from "../../../../tests/harness/parquet-bytes.ts";
import { ParquetBytes, ParquetError, DeltaReader, RunReader } from "./page-values.ts";
import { unpackSnappy } from "./decompress.ts";
import { readPageHeader } from "./column-cursor.ts";
import { readParquet } from "./read-parquet.ts";
import { inForm } from "../../../../tests/harness/long-form.ts";

const folder = join(import.meta.dirname, "../../../../tests/sdk/parquet-files");
const rowsMax = 10_000;

/** The number of rows up to `rowsMax`, or the error. */
async function outcomeOf(bytes: Uint8Array): Promise<number | string> {
  const read = (from: number, length: number) =>
    Promise.resolve(bytes.subarray(from, from + length));
  let rows = 0;
  try {
    for await (const record of readParquet(
      { length: bytes.length, read, loop: newLoopShare(realClock()) },
      undefined,
    )) {
      record.all();
      rows += 1;
      if (rows >= rowsMax) break;
    }
    return rows;
  } catch (error) {
    if (!(error instanceof FatalQueryError)) throw error;
    return error.name;
  }
}

/** A sequence of numbers below `limit`, the same in each run. */
function numbers(seed: number) {
  let state = seed;
  return (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % limit;
  };
}

it.each(readdirSync(folder).filter((name) => name.endsWith(".parquet")))(
  "%s, damaged",
  async (name) => {
    const whole = readFileSync(join(folder, name));
    const pick = numbers(whole.length);
    const found = new Set<number | string>();
    for (let attempt = 0; attempt < inForm(60, 300); attempt += 1) {
      const damaged = Buffer.from(whole);
      for (let change = 0; change <= pick(3); change += 1) damaged[pick(whole.length)] = pick(256);
      found.add(await outcomeOf(damaged));
      found.add(await outcomeOf(whole.subarray(0, pick(whole.length))));
    }
    expect([...found].filter((each) => typeof each === "string")).toContain("ParseError");
  },
);

it("a run repeats its number only as often as values are read", () => {
  const runs = new RunReader(new ParquetBytes(runsOf({ repeat: 2 ** 31 - 1, number: 5 })), 3);
  expect([runs.next(), runs.next()]).toEqual([5, 5]);
  expect(() => new RunReader(new ParquetBytes(Uint8Array.of(0, 1)), 1).next()).toThrow(
    ParquetError,
  );
  expect(() => new RunReader(new ParquetBytes(Uint8Array.of(3)), 8).next()).toThrow(ParquetError);
  expect(() => new RunReader(new ParquetBytes(new Uint8Array()), 33)).toThrow(ParquetError);
});

it.each([
  ["bytes", { pageBytes: 2 ** 30 }],
  ["values", { valueCount: 2 ** 30 }],
])("a page with too many %s is refused", (_what, sizes) => {
  expect(readPageHeader(pageHeaderOf({})).valueCount).toBe(1);
  expect(() => readPageHeader(pageHeaderOf(sizes))).toThrow(ParquetError);
});

it("differences in blocks of no values are refused", () => {
  expect(() => new DeltaReader(new ParquetBytes(Uint8Array.of(0, 0, 5, 0)))).toThrow(ParquetError);
  expect(() => new DeltaReader(new ParquetBytes(Uint8Array.of(8, 8, 5, 0)))).toThrow(ParquetError);
});

it.each([
  ["longer than it says", [1, 4, 97, 97]],
  ["a copy of nothing", [4, 1, 0]],
  ["truncated", [200, 1, 252]],
])("compressed data is refused: %s", async (_what, bytes) => {
  await expect(
    unpackSnappy(Uint8Array.from(bytes), bytes[0] ?? 0, newLoopShare(realClock())),
  ).rejects.toThrow(ParquetError);
});
