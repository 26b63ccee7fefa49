import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { azuriteFixture, type AzuriteFixture } from "./azurite-fixture.ts";
import { describeData } from "./describe-data.ts";
import { importInto, problemsOf } from "./import-into.ts";

let fixture: AzuriteFixture;
let location = "";
beforeAll(async () => {
  fixture = await azuriteFixture();
  location = await mkdtemp(join(tmpdir(), "etagere-import-"));
}, 120_000);
afterAll(async () => {
  fixture.remove();
  await rm(location, { recursive: true, force: true });
});

describe("a folder that Azurite has written", () => {
  it("is imported so that clients see what they saw", async () => {
    const hour = 3_600_000;
    editDatabase(fixture.folder, "queue", ({ timeNextVisible, ...message }) => {
      const isHidden = message["dequeueCount"] === 0 && Number(timeNextVisible) > marchSeventh;
      return { ...message, timeNextVisible: isHidden ? Date.now() + hour : timeNextVisible };
    });
    const counts = await importInto(location, fixture.folder);
    expect(counts).toEqual({
      containers: 3,
      blobs: 9,
      snapshots: 3,
      uncommittedBlocks: 3,
      queues: 2,
      messages: 3,
      tables: 2,
      entities: 151,
      skipped: 1,
    });
    await using server = await start({ port: 0, location });
    expect(await describeData(server.connectionString)).toEqual(fixture.expected);
  });

  it("leaves a folder that is sound", async () => {
    expect(await problemsOf(location)).toEqual([]);
  });
});

const marchSeventh = Date.UTC(2025, 2, 7);

type Fields = Readonly<Record<string, unknown>>;

/** Changes the documents of a folder, as time or damage would. */
function editDatabase(folder: string, service: string, edit: (fields: Fields) => Fields): void {
  const path = join(folder, `__azurite_db_${service}__.json`);
  const database = JSON.parse(readFileSync(path, "utf8")) as {
    collections: { data: Fields[] }[];
  };
  for (const collection of database.collections) collection.data = collection.data.map(edit);
  writeFileSync(path, JSON.stringify(database));
}
