import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ticksPerDay } from "../../src/base/ticks.ts";
import { start, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { reclaimJobs } from "../../src/operation/reclaim-jobs.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { openLmdbStore } from "../../src/store/lmdb/open-lmdb-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { openDatabase, type Database } from "../postgres/database.ts";
import { describeArchive } from "./describe-archive.ts";
import { accounts, fillAccounts } from "./fill-accounts.ts";
import { streamOfFile } from "./archive-bytes.ts";
import { visibleState } from "./visible-state.ts";

const folder = temporaryFolder();
const source = join(folder, "source");
const archive = join(folder, "source.etagere");
let bucket: FakeS3;
let database: Database;
let lines: readonly string[];
let seen: unknown;

const serve = (options: StartOptions): Promise<EtagereServer> =>
  start({ ...freePorts, noSmb: true, accounts, ...options });

beforeAll(async () => {
  bucket = await openFakeS3();
  database = await openDatabase();
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  const server = await serve({ location: source });
  await fillAccounts(server);
  seen = await visibleState(server);
  await server.export(archive, { accounts: ["main", "lake"] });
  await server.stop();
  lines = await describeArchive(streamOfFile(archive));
}, 120_000);

afterAll(async () => {
  await bucket.close();
  await database.stop();
  vi.unstubAllEnvs();
});

const problems = async (location: string) =>
  (await checkFolder({ location, clock: realClock(), log: silentLog })).problems;

/** The jobs that are due later than in an hour, so not those that
 *  remove the empty accounts which the load has replaced. */
async function jobKinds(location: string): Promise<ReadonlySet<string>> {
  const store = await openLmdbStore({
    location: join(location, "store"),
    clock: realClock(),
    log: silentLog,
  });
  const kinds = new Set<string>();
  await store.snapshot(async (view) => {
    for await (const entries of view.range(reclaimJobs.range([]))) {
      for (const { value } of entries) {
        const { kind, due = 0n } = reclaimJobs.codec.decode(value);
        if (due > view.now + ticksPerDay / 24n) kinds.add(kind);
      }
    }
  });
  await store.close();
  return kinds;
}

const periodJobs = [
  "blob-deleted-container",
  "blob-generation",
  "blob-upload",
  "file-deleted-share",
  "queue-expired",
];

/** Loads the archive into an empty server, and compares everything with the source. */
async function expectSame(options: StartOptions, name: string): Promise<void> {
  await using server = await serve(options);
  const report = await server.load(archive);
  expect(report.accounts.map((account) => account.name)).toEqual(["lake", "main"]);
  expect(await visibleState(server)).toEqual(seen);
  const again = join(folder, `${name}.etagere`);
  await server.export(again, { accounts: ["main", "lake"] });
  expect(await describeArchive(streamOfFile(again))).toEqual(lines);
}

describe("an archive of all services", () => {
  it("contains records of every archived kind", () => {
    const kinds = new Set(lines.map((line) => line.split(" ")[0]));
    for (const kind of [...expectedKinds, "base"]) expect(kinds).toContain(kind);
    expect(lines.filter((line) => line.includes('"lease"'))).toEqual([]);
  });

  it("loads into memory", () => expectSame({ inMemoryPersistence: true }, "memory"), 60_000);

  it("loads into a data folder, which has no problems", async () => {
    const location = join(folder, "target");
    await expectSame({ location }, "folder");
    expect(await problems(source)).toEqual([]);
    expect(await problems(location)).toEqual([]);
    // What removes records at the end of their periods is derived again, and nothing removes the
    // load itself.
    expect([...(await jobKinds(location))].toSorted()).toEqual(periodJobs);
  }, 60_000);

  it("loads into PostgreSQL and S3", async () => {
    const location = join(folder, "scaled");
    await expectSame({ location, store: database.newUrl(), content: bucket.location }, "scaled");
  }, 120_000);

  it("loads twice, also beside its original and under another name", async () => {
    await using server = await serve({ location: source });
    const one = join(folder, "one.etagere");
    await server.export(one, { accounts: ["main"] });
    const { accounts: loaded } = await server.load(one, { as: "copied" });
    expect(loaded).toMatchObject([
      { name: "copied", isReplaced: false, keys: [/=$/, /=$/].map(() => expect.any(String)) },
    ]);
    await server.load(one, { as: "copied", replace: true });
    const copied = join(folder, "copied.etagere");
    await server.export(copied, { accounts: ["copied"] });
    const [, , ...copiedLines] = await describeArchive(streamOfFile(copied));
    const [, , ...originalLines] = await describeArchive(streamOfFile(one));
    expect(copiedLines).toEqual(originalLines);
    expect(await visibleState(server)).toEqual(seen);
  }, 60_000);
});

const expectedKinds = [
  "containers",
  "deleted-containers",
  "blobs",
  "generations",
  "uploads",
  "blocks",
  "queues",
  "messages",
  "message-turns",
  "message-expiries",
  "tables",
  "entities",
  "shares",
  "deleted-shares",
  "share-snapshots",
  "nodes",
  "places",
  "file-versions",
  "file-version-ends",
  "file-permissions",
];
