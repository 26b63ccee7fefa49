import { newLoopShare } from "../../base/loop-share.ts";
import { realClock } from "../../host/world.ts";
import { tableFromIPC, type Table } from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Row } from "./columns.ts";
import { writeArrowStream } from "./stream.ts";

const columns = {
  Name: "text",
  Note: "text",
  Flag: "boolean",
  Count: "uint64",
  Time: "seconds",
  Pairs: "map",
} as const;

function write(rows: readonly Row<typeof columns>[], metadata = {}): Promise<Uint8Array> {
  return writeArrowStream(newLoopShare(realClock()), {
    columns,
    required: ["Name"],
    rows,
    metadata,
  });
}

async function read(rows: readonly Row<typeof columns>[], metadata = {}): Promise<Table> {
  return tableFromIPC(await write(rows, metadata));
}

/** Converts a read cell back to the form that the writer takes. */
function cell(table: Table, name: string, row: number): unknown {
  const value: unknown = table.getChild(name)?.get(row) ?? undefined;
  if (value === undefined) return undefined;
  if (name === "Time") return BigInt(value as number) / 1000n;
  return name === "Pairs" ? [...(value as Iterable<readonly [string, string]>)] : value;
}

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const pairs = fc.uniqueArray(fc.tuple(text, text), { maxLength: 4, selector: ([key]) => key });
const row = fc.record({
  Name: text,
  Note: maybe(text),
  Flag: maybe(fc.boolean()),
  Count: maybe(fc.bigInt(0n, 2n ** 64n - 1n)),
  Time: maybe(fc.bigInt(-62_135_596_800n, 253_402_300_799n)),
  Pairs: maybe(pairs),
});

describe("an Arrow stream", () => {
  it("preserves every cell, including nulls", async () => {
    const property = fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const table = await read(rows);
      expect(table.numRows).toBe(rows.length);
      for (const [index, written] of rows.entries()) {
        for (const [name, value] of Object.entries(written)) {
          expect(cell(table, name, index)).toEqual(value);
        }
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it("has the types that clients of the service expect", async () => {
    const pair = ["k", "v"] as const;
    const table = await read([
      { Name: "a", Note: "", Flag: true, Count: 1, Time: 1n, Pairs: [pair] },
    ]);
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "Name Utf8",
      "Note Utf8",
      "Flag Bool",
      "Count Uint64",
      "Time Timestamp<SECOND>",
      "Pairs Map<{key:Utf8, value:Utf8}>",
    ]);
    expect(table.schema.fields.map(({ nullable }) => nullable)).toEqual([
      false,
      ...Array<boolean>(5).fill(true),
    ]);
  });

  it("omits columns without values", async () => {
    const names = async (rows: readonly Row<typeof columns>[]) =>
      (await read(rows)).schema.fields.map(({ name }) => name);
    expect(await names([])).toEqual(["Name"]);
    expect(await names([{ Name: "a" }, { Name: "b", Flag: false }])).toEqual(["Name", "Flag"]);
  });

  it("carries metadata", async () => {
    const metadata = { NextMarker: "2!4!abc-", Empty: "", Umlaut: "é🎈" };
    const { schema } = await read([], metadata);
    expect(Object.fromEntries(schema.metadata)).toEqual(metadata);
  });

  it("aligns messages to 8 bytes and ends with an end-of-stream marker", async () => {
    const bytes = await write([{ Name: "abc", Count: 5 }]);
    expect(bytes.length % 8).toBe(0);
    expect([...bytes.subarray(0, 4)]).toEqual([255, 255, 255, 255]);
    expect([...bytes.subarray(-8)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0]);
  });
});
