import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { fill } from "../folder/fill.ts";
import { lookAtFilled } from "../folder/filled.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { packFolder, unpackFolder } from "../upgrade/packed-folder.ts";
import { openDatabase, type Database } from "./database.ts";

/** Each file is a data folder for content, with the dump of the records beside it. */
const databases = join(import.meta.dirname, "../upgrade/databases");
const schema = "kept";
const dumpFile = "records.sql";
/** The name of the release whose database is stored for tests of later releases. */
const keep = process.env["ETAGERE_KEEP_FOLDER"];
const folder = temporaryFolder();
let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.stop());

const storeIn = (name: string): string => `${database.url}?schema=${name}`;

async function newlyFilled(name: string): Promise<object> {
  const location = join(folder, name);
  await using server = await start({ ...freePorts, location, store: storeIn(name) });
  await fill(server.urls, "kept");
  return await lookAtFilled(server.urls, "kept");
}

it.runIf(keep !== undefined)("keeps a database for later releases", async () => {
  await newlyFilled(schema);
  const [version = ""] = readdirSync("/usr/lib/postgresql").toSorted().toReversed();
  const program = `/usr/lib/postgresql/${version}/bin/pg_dump`;
  const words = [`--dbname=${database.url}`, `--schema=${schema}`, "--inserts", "--no-owner"];
  const dump = execFileSync(program, [...words, "--no-privileges"], { encoding: "utf8" });
  const location = join(folder, schema);
  // Commands of psql are not SQL.
  writeFileSync(join(location, dumpFile), dump.replaceAll(/^\\.*$/gm, ""));
  mkdirSync(databases, { recursive: true });
  packFolder(location, join(databases, `${keep}.json.gz`));
  await database.query(`DROP SCHEMA ${schema} CASCADE`);
});

it.each(readdirSync(databases))("1 durable: serves the database of %s", async (name) => {
  const wanted = await newlyFilled("newly_filled");
  const location = join(folder, "old");
  unpackFolder(join(databases, name), location);
  await database.query(readFileSync(join(location, dumpFile), "utf8"));
  const options = { ...freePorts, location, store: storeIn(schema) };
  const server = await start(options);
  expect(await lookAtFilled(server.urls, "kept")).toEqual(wanted);
  await fill(server.urls, "more");
  await server.stop();
  const again = await start(options);
  expect(await lookAtFilled(again.urls, "kept")).toEqual(wanted);
  await again.stop();
});

it("refuses a database that a later release has changed, and names both versions", async () => {
  const options = { ...freePorts, location: join(folder, "later"), store: storeIn("later") };
  const server = await start(options);
  await server.stop();
  await database.query("UPDATE later.format SET version = 99, oldest_reader = 99");
  await expect(start(options)).rejects.toThrow(
    /has format 99; this release supports \d+: upgrade this node/,
  );
});
