import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start } from "../../src/index.ts";
import { copyData } from "../../src/commands/copy-data.ts";
import { noProgress } from "../../src/commands/progress.ts";
import { openDataLocation, type DataLocation } from "../../src/data/data-locations.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { openFakeS3 } from "../harness/fake-s3.ts";
import { silentLog } from "../harness/silent-log.ts";
import { changeAll, contentsOf, fill } from "../copy/shelf-contents.ts";
import { openDatabase, type Database } from "./database.ts";

const folder = temporaryFolder();
const world = realEnvironment(silentLog);
let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database.stop();
});

async function copy(from: DataLocation, to: DataLocation): Promise<void> {
  const [one, other] = [await openDataLocation(from, world), await openDataLocation(to, world)];
  const fromName = from.records;
  await copyData({ from: one, to: other, fromName, ...world, progress: noProgress });
  await one.close();
  await other.close();
}

it("copies everything from a folder into a database and back", async () => {
  const common = { port: 0, noSmb: true } as const;
  const source = await start({ ...common, location: join(folder, "source") });
  await fill(source.connectionString);
  const original = await contentsOf(source.connectionString);
  await source.stop();
  const store = database.newUrl();
  const location = join(folder, "node");
  const inFolder = { records: join(folder, "source"), bytes: undefined };
  const inDatabase = { records: store, bytes: location };
  await copy(inFolder, inDatabase);
  await copy(inDatabase, { records: join(folder, "back"), bytes: undefined });
  const places = [{ store, location }, { location: join(folder, "back") }];
  for (const place of places) {
    const server = await start({ ...common, ...place });
    expect(await contentsOf(server.connectionString)).toEqual(original);
    await changeAll(server.connectionString);
    await server.stop();
  }
});

it("creates no folder with records in a database and contents in a bucket", async () => {
  const bucket = await openFakeS3();
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  const bytes = bucket.location;
  const opened = await openDataLocation({ records: database.newUrl(), bytes }, world);
  await opened.close();
  await bucket.close();
  vi.unstubAllEnvs();
  expect(existsSync(resolve(bytes))).toBe(false);
});
