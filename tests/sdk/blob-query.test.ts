import { BlobServiceClient, type BlockBlobClient, type BlobQueryError } from "@azure/storage-blob";
import type { BlockBlobQueryOptions } from "@azure/storage-blob";
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
let blobs: (name: string, text: string) => Promise<BlockBlobClient>;

beforeAll(async () => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  const container = service.getContainerClient(freshName("query"));
  await container.create();
  blobs = async (name, text) => {
    const blob = container.getBlockBlobClient(name);
    await blob.upload(text, Buffer.byteLength(text));
    return blob;
  };
});

async function ask(blob: BlockBlobClient, sql: string, options: BlockBlobQueryOptions = {}) {
  const errors: BlobQueryError[] = [];
  const answer = await blob.query(sql, { onError: (error) => errors.push(error), ...options });
  const chunks: Buffer[] = [];
  for await (const chunk of answer.readableStreamBody ?? []) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return { bytes, text: bytes.toString(), errors };
}

const people = "name,age,city\nAnn,31,Rome\nBob,25,Oslo\nCid,47,Rome\n";
const withNames: BlockBlobQueryOptions = {
  inputTextConfiguration: {
    kind: "csv",
    columnSeparator: ",",
    recordSeparator: "\n",
    fieldQuote: '"',
    hasHeaders: true,
  },
};
const jsonOut = { outputTextConfiguration: { kind: "json", recordSeparator: "\n" } } as const;
const jsonIn = { inputTextConfiguration: { kind: "json", recordSeparator: "\n" } } as const;

describe("a query", () => {
  it.each([
    ["SELECT * FROM BlobStorage", "Ann,31,Rome\nBob,25,Oslo\nCid,47,Rome\n"],
    ["SELECT name FROM BlobStorage WHERE age > 30", "Ann\nCid\n"],
    ["SELECT city, name FROM BlobStorage b WHERE b.city = 'Rome' LIMIT 1", "Rome,Ann\n"],
    ["SELECT COUNT(*), SUM(age), MIN(age), MAX(age) FROM BlobStorage", "3,103,25,47\n"],
    ["SELECT AVG(age) FROM BlobStorage WHERE city = 'Rome'", "39\n"],
    ["SELECT CAST(age AS INT) + 1 FROM BlobStorage WHERE name LIKE 'B%'", "26\n"],
    ["SELECT UPPER(name) FROM BlobStorage WHERE age BETWEEN 30 AND 50", "ANN\nCID\n"],
    ["SELECT name FROM BlobStorage WHERE city IN ('Oslo', 'Bonn') OR age = 47", "Bob\nCid\n"],
    ["SELECT name FROM BlobStorage WHERE NOT (age < 30) AND city <> 'Oslo'", "Ann\nCid\n"],
    ["SELECT name FROM BlobStorage LIMIT 0", ""],
  ])("%s", async (sql, expected) => {
    const blob = await blobs("people.csv", people);
    expect(await ask(blob, sql, withNames)).toMatchObject({ text: expected, errors: [] });
  });

  it("returns Apache Arrow", async () => {
    const rows = "a,1,1.5,true,2024-02-29T12:00:00.5Z,400\nb,-2,2,false,,4.5\nc,,,,,\nd,x,,,,\n";
    const csv = await blobs("typed.csv", rows);
    const schema = [
      { name: "text", type: "string" },
      { name: "whole", type: "int64" },
      { name: "real", type: "double" },
      { name: "flag", type: "bool" },
      { name: "when", type: "timestamp[ms]" },
      { name: "price", type: "decimal", precision: 6, scale: 2 },
    ];
    const outputTextConfiguration = { kind: "arrow", schema } as never;
    const { bytes, errors } = await ask(csv, "SELECT * FROM BlobStorage", {
      outputTextConfiguration,
    });
    const table = tableFromIPC(bytes);
    const column = (name: string): unknown[] => [...(table.getChild(name) ?? [])];
    expect(column("text")).toEqual(["a", "b", "c"]);
    expect(column("whole")).toEqual([1n, -2n, null]);
    expect(column("real")).toEqual([1.5, 2, null]);
    expect(column("flag")).toEqual([true, false, null]);
    expect(column("when")).toEqual([Date.UTC(2024, 1, 29, 12, 0, 0, 500), null, null]);
    // The service reads a whole number as its digits.
    expect(column("price").map(String)).toEqual(["400", "450", "null"]);
    expect(table.schema.fields.map(({ type }) => String(type)).slice(3)).toEqual([
      "Bool",
      "Timestamp<MILLISECOND>",
      "Decimal[6e+2]",
    ]);
    expect(errors.map(({ name }) => name)).toEqual(["InvalidTypeConversion"]);
  });

  it("reports a sum that does not fit its column, and ends", async () => {
    const csv = await blobs("people.csv", people);
    const sum = (more: object) =>
      ask(csv, "SELECT SUM(age) FROM BlobStorage", {
        ...withNames,
        outputTextConfiguration: { kind: "arrow", schema: [{ name: "n", ...more }] } as never,
      });
    const narrow = await sum({ type: "decimal", precision: 2, scale: 0 });
    expect(tableFromIPC(narrow.bytes).numRows).toBe(0);
    expect(narrow.errors.map(({ name }) => name)).toEqual(["InvalidTypeConversion"]);
    const wide = await sum({ type: "decimal", precision: 3, scale: 0 });
    expect([...(tableFromIPC(wide.bytes).getChild("n") ?? [])].map(String)).toEqual(["103"]);
  });

  it("rejects a schema it cannot fill, and reports results that do not fit", async () => {
    const csv = await blobs("people.csv", people);
    const answer = (type: string, more = {}) =>
      ask(csv, "SELECT _1, _2 FROM BlobStorage", {
        outputTextConfiguration: { kind: "arrow", schema: [{ name: "n", type, ...more }] } as never,
      });
    for (const type of ["int8", "constructor", "__proto__"]) {
      await expect(answer(type)).rejects.toMatchObject({ code: "InvalidXmlNodeValue" });
    }
    const tooLong = answer("decimal", { precision: 39, scale: 2 });
    await expect(tooLong).rejects.toMatchObject({ code: "InvalidXmlNodeValue" });
    const { errors } = await answer("string");
    expect(errors).toMatchObject([{ name: "InvalidSchema", isFatal: true }]);
  });

  it("converts delimited text to JSON and back", async () => {
    const csv = await blobs("people.csv", people);
    const json = await ask(csv, "SELECT name, age FROM BlobStorage LIMIT 1", {
      ...withNames,
      ...jsonOut,
    });
    expect(json.text).toBe('{"name":"Ann","age":"31"}\n');
    const lines = await blobs("people.json", '{"name":"Ann","tags":["a"]}{"name":"B\\"ob"}');
    const back = await ask(lines, "SELECT name, tags[0] AS first FROM BlobStorage", {
      ...jsonIn,
      outputTextConfiguration: { ...withNames.inputTextConfiguration!, hasHeaders: true } as never,
    });
    expect(back.text).toBe('name,first\nAnn,a\n"B""ob",\n');
  });

  it("continues after a malformed record and reports its position", async () => {
    const blob = await blobs("odd.csv", "100,pizza\n300,400\n");
    const { text, errors } = await ask(blob, "SELECT _1 FROM BlobStorage WHERE _2 > 250");
    expect(text).toBe("300\n");
    expect(errors).toEqual([
      expect.objectContaining({ isFatal: false, name: "InvalidTypeConversion", position: 0 }),
    ]);
  });

  it("ends at malformed JSON", async () => {
    const blob = await blobs("bad.json", '{"a":1}\n{a:2}\n{"a":3}');
    const { text, errors } = await ask(blob, "SELECT a FROM BlobStorage", {
      ...jsonIn,
      ...jsonOut,
    });
    expect(text).toBe('{"a":1}\n');
    expect(errors).toEqual([
      expect.objectContaining({ isFatal: true, name: "ParseError", position: 8 }),
    ]);
  });

  it("reports progress", async () => {
    const line = `${"x".repeat(99)}\n`;
    const blob = await blobs("long.csv", line.repeat(100_000));
    const seen: number[] = [];
    const answer = await ask(blob, "SELECT COUNT(*) FROM BlobStorage", {
      onProgress: ({ loadedBytes }) => seen.push(loadedBytes),
    });
    expect(answer.text).toBe("100000\n");
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toBe(10_000_000);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it.each([
    "SELECT",
    "SELECT * FROM Elsewhere",
    "DELETE FROM BlobStorage",
    "SELECT * FROM BlobStorage WHERE",
    "SELECT name, COUNT(*) FROM BlobStorage",
    "SELECT * FROM BlobStorage LIMIT x",
    `SELECT * FROM BlobStorage WHERE ${"(".repeat(1000)}1${")".repeat(1000)}`,
  ])("is rejected: %s", async (sql) => {
    const blob = await blobs("people.csv", people);
    await expect(ask(blob, sql)).rejects.toMatchObject({ statusCode: 400 });
  });

  it("rejects formats that the blob cannot have", async () => {
    const blob = await blobs("people.csv", people);
    const arrow = { inputTextConfiguration: { kind: "arrow", schema: [] } } as const;
    await expect(
      ask(blob, "SELECT * FROM BlobStorage", arrow as unknown as BlockBlobQueryOptions),
    ).rejects.toMatchObject({ statusCode: 400, code: "InvalidXmlNodeValue" });
  });
});
