import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { start, type EtagereServer } from "../../src/index.ts";
import { backupFolder, extentsIn, openBase } from "../../src/commands/folder-backup.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { adminServer } from "../admin/admin-server.ts";
import { rawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const location = join(folder, "data");
const [monday, tuesday, alone, restored] = ["monday", "tuesday", "alone", "restored"].map((name) =>
  join(folder, name),
) as [string, string, string, string];
const world = { clock: realClock(), log: silentLog };
const bodyBytes = 300_000;
const turnsMax = 100_000;
/** The interval of idle background tasks. */
const backgroundMilliseconds = 5000;

const put = async (server: EtagereServer, name: string, fill: string): Promise<void> => {
  const client = rawClient(server.urls.blob ?? "");
  await client.send({ method: "PUT", path: "/box?restype=container" });
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const body = fill.repeat(bodyBytes);
  const sent = await client.send({ method: "PUT", path: `/box/${name}`, headers, body });
  expect(sent.status).toBe(201);
};

const get = async (server: EtagereServer, name: string): Promise<string> =>
  (
    await rawClient(server.urls.blob ?? "").send({ method: "GET", path: `/box/${name}` })
  ).body.toString();

/** Runs a server until its background tasks have sealed the extents of earlier processes. */
async function sealAll(): Promise<void> {
  const admin = await adminServer({ location }, backgroundMilliseconds);
  const draft = join(folder, "probe");
  for (let turn = 0; turn < turnsMax; turn += 1) {
    await backupFolder({ location, to: draft, ...world });
    const extents = await extentsIn(join(draft, "store", "store.mdb"));
    rmSync(draft, { recursive: true });
    if (extents.every(({ record }) => record.sealedBytes !== undefined)) break;
  }
  await admin.server.stop();
}

it("links unchanged contents to the earlier backup, and each backup can be restored", async () => {
  const first = await start({ ...freePorts, location });
  await put(first, "old", "a");
  await first.stop();
  await sealAll();
  const full = await backupFolder({ location, to: monday, ...world });
  expect([full.linkedExtents, full.bytes > bodyBytes]).toEqual([0, true]);

  const second = await start({ ...freePorts, location });
  await put(second, "new", "b");
  const next = await backupFolder({ location, to: tuesday, base: monday, ...world });
  await second.stop();
  expect(next.extents).toBeGreaterThan(next.linkedExtents);
  expect(next.linkedExtents).toBe(full.extents);
  const records = statSync(join(tuesday, "store", "store.mdb")).size;
  expect(next.bytes - records).toBeLessThan(2 * bodyBytes);

  // The second backup does not need the first one, and neither is changed by a restored server.
  rmSync(monday, { recursive: true });
  expect((await checkFolder({ location: tuesday, ...world })).problems).toEqual([]);
  cpSync(tuesday, restored, { recursive: true });
  const server = await start({ ...freePorts, location: restored });
  expect(await get(server, "old")).toBe("a".repeat(bodyBytes));
  expect(await get(server, "new")).toBe("b".repeat(bodyBytes));
  await put(server, "old", "c");
  await server.stop();
  expect((await checkFolder({ location: tuesday, ...world })).problems).toEqual([]);
});

it("copies everything if the base has another history", async () => {
  const other = join(folder, "other");
  const server = await start({ ...freePorts, location: other });
  await put(server, "old", "x");
  await server.stop();
  const { linkedExtents } = await backupFolder({
    location: other,
    to: alone,
    base: tuesday,
    ...world,
  });
  expect(linkedExtents).toBe(0);
  expect((await checkFolder({ location: alone, ...world })).problems).toEqual([]);
});

it("rejects a target inside the data folder, also through a link", async () => {
  mkdirSync(location, { recursive: true });
  const linked = join(folder, "link");
  symlinkSync(location, linked, "dir");
  const before = readdirSync(location);
  for (const to of [join(location, "backup"), join(linked, "a", "backup"), join(linked, "..b")]) {
    await expect(backupFolder({ location, to, ...world })).rejects.toThrow(
      `${to}: inside the data folder`,
    );
  }
  expect(readdirSync(location)).toEqual(before);
});

it("rejects a base that is no backup or is in use, and writes nothing", async () => {
  const to = join(folder, "refused");
  const backup = (base: string) => backupFolder({ location, to, base, ...world });
  await expect(backup(join(folder, "none"))).rejects.toThrow("not a backup");
  await expect(backup(location)).rejects.toThrow("in use by a server");
  const server = await start({ ...freePorts, location: restored });
  await expect(openBase(restored, location)).rejects.toThrow("in use by a server");
  await server.stop();
  expect(existsSync(to)).toBe(false);
});
