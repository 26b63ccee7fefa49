import { describe, expect, it } from "vitest";
import { LokiScanner, type LokiDocument } from "./azurite-folder.ts";

const database = {
  filename: "data",
  collections: [
    {
      name: "first",
      data: [{ a: 1, nested: { data: [{ b: 2 }] } }, { quote: '"}]{[\\"' }],
      idIndex: [1],
    },
    { name: "empty", data: [], binaryIndices: { data: [{ no: "document" }] } },
    { name: 'sec"ond', data: [{ text: "ünï 😀" }], stages: [{ data: [{ no: "document" }] }] },
  ],
  databaseVersion: 1.5,
  options: { data: [[[{ no: "document" }]]] },
};

function scan(text: string, chunkBytes: number, isWanted = (_name: string) => true) {
  const scanner = new LokiScanner(isWanted);
  const bytes = Buffer.from(text);
  const found: LokiDocument[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    found.push(...scanner.scan(bytes.subarray(at, at + chunkBytes)));
  }
  return { found, isComplete: scanner.isComplete };
}

const all: readonly LokiDocument[] = [
  { collection: "first", fields: database.collections[0]!.data[0]! },
  { collection: "first", fields: database.collections[0]!.data[1]! },
  { collection: 'sec"ond', fields: { text: "ünï 😀" } },
];

describe("the scanner of LokiJS files", () => {
  it.each([1, 2, 3, 7, 64, 100_000])("finds documents in chunks of %d bytes", (chunkBytes) => {
    for (const text of [JSON.stringify(database), JSON.stringify(database, null, 2)]) {
      expect(scan(text, chunkBytes)).toEqual({ found: all, isComplete: true });
    }
  });

  it("skips other collections", () => {
    const { found } = scan(JSON.stringify(database), 5, (name) => name !== "first");
    expect(found).toEqual(all.slice(2));
  });

  it("detects a truncated file", () => {
    const text = JSON.stringify(database);
    for (const length of [text.length - 1, 60, 2, 0]) {
      expect(scan(text.slice(0, length), 16).isComplete).toBe(false);
    }
  });

  it("rejects a document above the size limit", () => {
    const scanner = new LokiScanner(() => true, 100);
    const text = Buffer.from(
      `{"collections":[{"name":"a","data":[{"text":"${"x".repeat(200)}"}]}]}`,
    );
    scanner.scan(text.subarray(0, 100));
    expect(() => scanner.scan(text.subarray(100, 180))).toThrow(/a document exceeds 100 bytes/);
  });
});
