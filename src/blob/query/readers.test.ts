import { newLoopShare } from "../../base/loop-share.ts";
import { realClock } from "../../host/world.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDelimited } from "./read-delimited.ts";
import { readJson } from "./read-json.ts";
import type { InputRecord } from "./records.ts";
import type { Delimited } from "./query-blob.ts";
import { writeRecord } from "./result-pages.ts";

const form: Delimited = {
  type: "delimited",
  columnSeparator: ",",
  recordSeparator: "\n",
  quote: '"',
  escape: "",
  headers: false,
};

/** The bytes in pieces of every size: where a chunk ends must not matter. */
async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(records: AsyncIterable<InputRecord>) {
  const found: { offset: number; values: unknown[] }[] = [];
  for await (const record of records) {
    found.push({ offset: record.offset, values: record.all().map(({ value }) => value) });
  }
  return found;
}

const field = fc.string({ unit: fc.constantFrom("a", "ü", ",", '"', "\n", " "), maxLength: 5 });
const row = fc.array(field, { minLength: 2, maxLength: 3 });
const pieces = fc.integer({ min: 1, max: 7 });

describe("delimited text", () => {
  it("is equal after writing and reading, with any chunk boundaries", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 6 }), pieces, async (rows, size) => {
        const lines = rows.map((values) =>
          writeRecord(
            values.map((value) => ({ name: "", value })),
            form,
          ),
        );
        const found = await all(
          readDelimited(cut(lines.join(""), size), form, newLoopShare(realClock())),
        );
        expect(found.map(({ values }) => values)).toEqual(rows);
        let offset = 0;
        for (const [index, line] of lines.entries()) {
          expect(found[index]?.offset).toBe(offset);
          offset += Buffer.byteLength(line);
        }
      }),
    );
  });

  it("accepts CRLF as record separator", async () => {
    const found = await all(
      readDelimited(cut("a,b\r\nc,d\r\n", 3), form, newLoopShare(realClock())),
    );
    expect(found.map(({ values }) => values)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });
});

describe("JSON", () => {
  it("finds every value, with any separators and chunk boundaries", async () => {
    const value = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()));
    const gap = fc.constantFrom("", "\n", " ", ",\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 5 }),
        gap,
        pieces,
        async (values, join, size) => {
          const text = values.map((one) => JSON.stringify(one)).join(join);
          const found = await all(readJson(cut(text, size), []));
          const plain = values.map((one) =>
            Object.values(JSON.parse(JSON.stringify(one)) as object),
          );
          expect(found.map((one) => one.values)).toEqual(plain);
        },
      ),
    );
  });

  it("reads a top-level array element by element, with any chunk boundaries", async () => {
    const element = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(element, { maxLength: 4 }), { maxLength: 3 }),
        fc.constantFrom([], ["*"]),
        pieces,
        async (arrays, from, size) => {
          const text = arrays.map((one) => JSON.stringify(one, undefined, 1)).join("\n");
          const found = await all(readJson(cut(text, size), from));
          const plain = arrays.flat().map((one) => {
            const value: unknown = JSON.parse(JSON.stringify(one));
            return typeof value === "object" ? Object.values(value as object) : [value];
          });
          expect(found.map((one) => one.values)).toEqual(plain);
        },
      ),
    );
  });

  it.each(["[1", "[{}", '["a', "[1}", "{]"])("rejects %s", async (text) => {
    await expect(all(readJson(cut(text, 1), []))).rejects.toThrow(/Unexpected token/);
  });

  it.each([
    ["100,200\n", "Unexpected token ',' at [byte: 3]. Expecting tokens '{', or '['."],
    ['{}\n-1.5e3 "', "Unexpected token ' ' at [byte: 9]. Expecting tokens '{', or '['."],
    ["x", "Unexpected token 'x' at [byte: 0]. Expecting tokens '{', or '['."],
    ["{name: 1}", "Unexpected token 'n' at [byte: 1]. Expecting token '\"'. "],
  ])("names the unexpected token of %j", async (text, message) => {
    await expect(all(readJson(cut(text, 100), []))).rejects.toThrow(message);
  });

  it("iterates over arrays on the path of FROM", async () => {
    const text = '{"a":[{"b":1},{"b":2}]}{"a":[{"b":3}]}';
    const found = await all(readJson(cut(text, 4), ["a", "*"]));
    expect(found.map(({ values }) => values)).toEqual([[1], [2], [3]]);
  });
});
