import { readdirSync, truncateSync, utimesSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobs } from "../../src/blob/records.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { start } from "../../src/index.ts";
import { messages } from "../../src/queue/records.ts";
import { AzuriteFolder } from "../../src/commands/azurite-import/azurite-folder.ts";
import { importFolder } from "../../src/commands/azurite-import/import-folder.ts";
import { openDataStores } from "../../src/data/data-stores.ts";
import { reclaimers } from "../../src/data/services.ts";
import { simWorld } from "../harness/sim-world.ts";
import type { Store } from "../../src/store/store.ts";
import { entities } from "../../src/table/records.ts";
import { azuriteFixture, type AzuriteFixture } from "./azurite-fixture.ts";
import { describeData } from "./describe-data.ts";
import { editDatabase, type Fields } from "./edit-database.ts";
import { importInto, problemsOf } from "./import-into.ts";

const dayMilliseconds = 86_400_000;

let fixture: AzuriteFixture;
let location = "";
beforeEach(async () => {
  fixture = await azuriteFixture();
  location = await mkdtemp(join(tmpdir(), "etagere-import-"));
});
afterEach(async () => {
  fixture.remove();
  await rm(location, { recursive: true, force: true });
});

async function expectNothing(): Promise<void> {
  await using server = await start({ port: 0, location });
  const nothing = { containers: [], queues: [], tables: [] };
  expect(await describeData(server.connectionString)).toEqual(nothing);
}

describe("an import that fails", () => {
  it("shows nothing, leaves no damage, and can be repeated", async () => {
    const storage = join(fixture.folder, "__blobstorage__");
    for (const name of readdirSync(storage)) truncateSync(join(storage, name), 34_000);
    await expect(importInto(location, fixture.folder)).rejects.toThrow(
      /^blob box\/pages: .*__blobstorage__.* is \d+ bytes too short$/,
    );
    await expectNothing();
    expect(await problemsOf(location)).toEqual([]);
    const whole = await azuriteFixture();
    await importInto(location, whole.folder);
    whole.remove();
    await using server = await start({ port: 0, location });
    expect(await describeData(server.connectionString)).toMatchObject({
      containers: [{ name: "box" }, { name: "empty" }, { name: "leased" }],
    });
  });

  it("refuses an empty database, and one that Azurite saves during the import", async () => {
    const [blob, queue] = ["blob", "queue"].map((name) =>
      join(fixture.folder, `__azurite_db_${name}__.json`),
    ) as [string, string];
    const touch = () => utimesSync(blob, new Date(), new Date());
    const progress = { begin: touch, add: () => {} };
    const importing = importInto(location, fixture.folder, progress);
    await expect(importing).rejects.toThrow(`${blob} changed during the import`);
    await expectNothing();
    truncateSync(queue);
    await expect(importInto(location, fixture.folder)).rejects.toThrow(`${queue} is truncated`);
    await expectNothing();
  });

  const change = (name: string, edited: Fields) => (fields: Fields) =>
    fields["name"] === name ? [{ ...fields, ...edited }] : [fields];

  const changeProperty = (name: string, edited: Fields) => (fields: Fields) =>
    fields["name"] === name
      ? [{ ...fields, properties: { ...(fields["properties"] as Fields), ...edited } }]
      : [fields];

  it.each<[string, (fields: Fields) => readonly Fields[], RegExp]>([
    [
      "a path instead of an extent",
      change("nothing", {
        properties: { blobType: "BlockBlob", contentLength: 9 },
        persistency: { id: "../../../../../etc/passwd", offset: 0, count: 9 },
      }),
      /^blob box\/nothing: "[./]+etc\/passwd" is not an extent id$/,
    ],
    [
      "no location of its bytes",
      change("nothing", { persistency: {} }),
      /has no location of its bytes/,
    ],
    [
      "another length",
      change("blocks", { committedBlocksInOrder: [] }),
      /0 bytes stored, expected/,
    ],
    ["an unknown type", change("append", { properties: {} }), /"" is not a blob type/],
    ["a container's bad name", change("empty", { name: "NO" }), /container "NO": the name/],
    ["no name", change("empty", { name: 7 }), /a document lacks "name"/],
    ["an account's bad name", change("empty", { accountName: "a/b" }), /account "a\/b": the name/],
    [
      "a header that cannot be sent",
      changeProperty("append", { contentType: "text/plain\r\nx-ms-evil: 1" }),
      /^blob box\/append: "contentType" has characters that no header may contain$/,
    ],
    [
      "metadata that cannot be sent",
      change("append", { metadata: { a: "b\nc" } }),
      /^blob box\/append: "a" has characters that no header may contain$/,
    ],
    [
      "a tag that no client may set",
      change("append", { blobTags: { blobTagSet: [{ key: "a<", value: "b" }] } }),
      /^blob box\/append: its tags are not valid: InvalidTags$/,
    ],
    [
      "a block of any number of zeros",
      change("nothing", {
        properties: { blobType: "BlockBlob", contentLength: 2 ** 50 },
        persistency: { id: "*ZERO*", offset: 0, count: 2 ** 50 },
      }),
      /^blob box\/nothing: a block is not stored in an extent$/,
    ],
    [
      "a blob twice",
      (fields) => (fields["name"] === "append" ? [fields, fields] : [fields]),
      /^blob box\/append: appears twice$/,
    ],
    ["pages beyond the end", change("pages", { properties: { blobType: "PageBlob" } }), /damaged/],
  ])("reports %s", async (_what, edit, message) => {
    editDatabase(fixture.folder, "blob", edit);
    await expect(importInto(location, fixture.folder)).rejects.toThrow(message);
    await expectNothing();
  });

  it("leaves only what a reclaim job deletes, also if it is killed", async () => {
    const world = simWorld(1);
    const places = { location: undefined, storeUrl: undefined, contentUrl: undefined };
    const options = { ...places, memoryBytesMax: 2 ** 24, ...world };
    const stores = await openDataStores(options);
    let transactions = 0;
    const failing: Store = {
      ...stores.store,
      snapshot: (work) => stores.store.snapshot(work),
      transact: (work) => {
        transactions += 1;
        if (transactions > 100) return Promise.reject(new Error("killed"));
        return stores.store.transact(work);
      },
    };
    const { random, log } = world;
    const cut = { store: failing, content: stores.content };
    const folder = new AzuriteFolder(fixture.folder);
    const importing = importFolder({ folder, stores: cut, random, log });
    await expect(importing).rejects.toThrow("killed");
    const left = () =>
      stores.store.snapshot(async (view) => {
        let count = 0;
        for (const table of [blobs, messages, entities]) {
          for await (const entries of view.range(table.range([]))) count += entries.length;
        }
        return count;
      });
    expect(await left()).toBeGreaterThan(50);
    const parts = { store: stores.store, content: stores.content, reclaimers };
    while (await reclaimStep(parts));
    expect(await left()).toBeGreaterThan(50);
    world.clock.skip(dayMilliseconds + 1);
    while (await reclaimStep(parts));
    expect(await left()).toBe(0);
    await stores.close();
  });
});
