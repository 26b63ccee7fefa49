import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { backupFolder } from "../../src/commands/folder-backup.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { formatVersion } from "../../src/store/lmdb/location.ts";
import { silentLog } from "../harness/silent-log.ts";
import { fill } from "../folder/fill.ts";
import { lookAtFilled } from "../folder/filled.ts";
import { freePorts } from "../harness/server.ts";
import { packFolder, unpackFolder } from "./packed-folder.ts";

const folders = join(import.meta.dirname, "folders");
/** The name of the release whose folder is stored for tests of later releases. */
const keep = process.env["ETAGERE_KEEP_FOLDER"];
const common = { clock: realClock(), log: silentLog };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-upgrade-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function newlyFilled(location: string): Promise<object> {
  await using server = await start({ ...freePorts, location });
  await fill(server.urls, "kept");
  return await lookAtFilled(server.urls, "kept");
}

it.runIf(keep !== undefined)("keeps a folder for later releases", async () => {
  const location = join(folder, "data");
  await newlyFilled(location);
  await backupFolder({ location, to: join(folder, "copy"), ...common });
  packFolder(join(folder, "copy"), join(folders, `${keep}.json.gz`));
});

it.each(readdirSync(folders))("1 durable: serves what %s has stored", async (name) => {
  const wanted = await newlyFilled(join(folder, "new"));
  const location = join(folder, "old");
  unpackFolder(join(folders, name), location);
  const server = await start({ ...freePorts, location });
  // Releases that cannot read what this one writes refuse the folder from now on.
  expect(readFileSync(join(location, "store", "format"), "utf8")).toBe(`${formatVersion}\n`);
  expect(await lookAtFilled(server.urls, "kept")).toEqual(wanted);
  await fill(server.urls, "more");
  await server.stop();
  expect((await checkFolder({ location, ...common })).problems).toEqual([]);
  const again = await start({ ...freePorts, location });
  expect(await lookAtFilled(again.urls, "kept")).toEqual(wanted);
  await again.stop();
});
