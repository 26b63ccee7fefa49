// Queries of Parquet files that pyarrow wrote (parquet-files/README.md).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BlobServiceClient, type BlobQueryError, type ContainerClient } from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const folder = join(import.meta.dirname, "parquet-files");
const names = readdirSync(folder).filter((name) => name.endsWith(".parquet"));
const held = testServer();
let container: ContainerClient;

beforeAll(async () => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  container = service.getContainerClient(freshName("parquet"));
  await container.create();
});

async function ask(bytes: Uint8Array, sql: string) {
  const blob = container.getBlockBlobClient(freshName("file"));
  await blob.upload(Buffer.from(bytes), bytes.length);
  const errors: BlobQueryError[] = [];
  const answer = await blob.query(sql, {
    inputTextConfiguration: { kind: "parquet" },
    outputTextConfiguration: { kind: "json", recordSeparator: "\n" },
    onError: (error) => errors.push(error),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer.readableStreamBody ?? []) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().split("\n").filter(Boolean);
  return { rows: lines.map((line) => JSON.parse(line) as object), errors };
}

function fixture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** The rows that every file has: 300 of them, in row groups of 100. */
function row(number: number): object {
  const isNull = number % 7 === 3;
  return {
    id: number,
    big: number % 2 === 0 ? number * 1000 : "9007199254740993",
    ratio: number / 4,
    flag: number % 3 === 0,
    ...(isNull ? {} : { name: `name ${number % 10} é` }),
    day: `2024-01-${String((number % 28) + 1).padStart(2, "0")}T00:00:00.0000000Z`,
    time: `2024-01-01T00:00:${String(number % 60).padStart(2, "0")}.1234560Z`,
    price: Number(`${number}.25`),
    raw: Buffer.from([number % 256, 255]).toString("base64"),
  };
}

const rows = Array.from({ length: 300 }, (_, number) => row(number));

describe("a query of a Parquet file", () => {
  it.each(names.filter((name) => name.startsWith("all-")))("%s", async (name) => {
    const { rows: found, errors } = await ask(fixture(name), "SELECT * FROM BlobStorage");
    expect(errors).toEqual([]);
    expect(found).toEqual(rows);
  });

  it.each([
    ["SELECT COUNT(*) FROM BlobStorage", [{ _1: 300 }]],
    [
      "SELECT id, NAME FROM BlobStorage WHERE id > 296",
      [{ id: 297 }, { id: 298, NAME: "name 8 é" }, { id: 299, NAME: "name 9 é" }],
    ],
    ["SELECT SUM(id), MAX(ratio) FROM BlobStorage WHERE flag = TRUE", [{ _1: 14_850, _2: 74.25 }]],
    ["SELECT id FROM BlobStorage WHERE name IS NULL LIMIT 2", [{ id: 3 }, { id: 10 }]],
    ["SELECT id FROM BlobStorage WHERE price = 7.25", [{ id: 7 }]],
  ])("%s", async (sql, expected) => {
    const { rows: found, errors } = await ask(fixture("all-snappy.parquet"), sql);
    expect(errors).toEqual([]);
    expect(found).toEqual(expected);
  });

  it("reads only the columns that it needs, so that others may be lists", async () => {
    const { rows: found } = await ask(fixture("nested.parquet"), "SELECT id FROM BlobStorage");
    expect(found).toEqual([{ id: 1 }, { id: 2 }]);
    const { errors } = await ask(fixture("nested.parquet"), "SELECT * FROM BlobStorage");
    expect(errors).toMatchObject([{ isFatal: true, name: "ParseError" }]);
    expect(errors[0]?.description).toContain("column items has lists or structures");
  });

  it("reports other files and unknown columns", async () => {
    const text = await ask(Buffer.from("this is no such file"), "SELECT * FROM BlobStorage");
    expect(text.errors).toMatchObject([{ isFatal: true, name: "ParseError" }]);
    const none = await ask(fixture("all-snappy.parquet"), "SELECT nothing FROM BlobStorage");
    expect(none.errors).toMatchObject([{ isFatal: true, name: "InvalidColumnName" }]);
  });
});
