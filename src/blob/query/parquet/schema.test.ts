import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readSchema } from "./metadata.ts";

function footerOf(file: string): Uint8Array {
  const bytes = readFileSync(`tests/sdk/parquet-files/${file}`);
  return bytes.subarray(bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8), -8);
}

it("reads nested columns with their depth and repetition", () => {
  const { elements, rowCount } = readSchema(footerOf("nested.parquet"));
  const rows = elements.map(({ depth, name, type, repetition }) => [depth, name, type, repetition]);
  expect(rowCount).toBe(2);
  expect(rows).toEqual([
    [0, "id", "int64", "optional"],
    [0, "items", undefined, "optional"],
    [1, "list", undefined, "repeated"],
    [2, "element", "int64", "optional"],
    [0, "point", undefined, "optional"],
    [1, "x", "int64", "optional"],
  ]);
});

it("reads logical types", () => {
  const { elements } = readSchema(footerOf("all-snappy.parquet"));
  expect(elements.map(({ name, type, logical }) => [name, type, logical?.kind])).toEqual([
    ["id", "int32", undefined],
    ["big", "int64", undefined],
    ["ratio", "double", undefined],
    ["flag", "boolean", undefined],
    ["name", "bytes", "text"],
    ["day", "int32", "date"],
    ["time", "int64", "timestamp"],
    ["price", "fixed", "decimal"],
    ["raw", "bytes", undefined],
  ]);
});
