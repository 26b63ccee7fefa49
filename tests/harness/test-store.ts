import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { StartOptions } from "../../src/index.ts";
import type { SimClock } from "../../src/server/sim-world.ts";
import { openMemoryStore } from "../../src/store/memory/open-memory-store.ts";
import { silentLog } from "../../src/store/silent-log.ts";
import type { Store } from "../../src/store/store.ts";

/** With `ETAGERE_TEST_STORE=postgres` (or the address of a database of one's own) everything that
 *  does not insist on an engine is held to the same tests on a database. */
const database = process.env["ETAGERE_TEST_STORE"];
/** With `ETAGERE_TEST_CONTENT=s3` (or the address of a bucket of one's own) the same for bytes. */
const bucket = process.env["ETAGERE_TEST_CONTENT"];
/** A property makes a world for each of its runs and is done with it afterwards. */
const storesOpenMax = 30;

const open: Store[] = [];

afterAll(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

function inSchema(url: string, name: string): string {
  const address = new URL(url);
  address.searchParams.set("schema", `test_${name}`);
  return address.href;
}

function underPrefix(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `${address.pathname}/${name}`;
  return address.href;
}

/** Where a server of a test keeps its records. The same place has the same ones when it is opened
 *  again. */
export function placeOf({ location }: StartOptions): StartOptions {
  if (database === undefined && bucket === undefined) {
    return location === undefined ? { inMemoryPersistence: true } : {};
  }
  const folder = location ?? mkdtempSync(join(tmpdir(), "etagere-test-"));
  return {
    ...(database === undefined ? {} : { store: inSchema(database, digestOf(folder)) }),
    ...(bucket === undefined ? {} : { content: underPrefix(bucket, digestOf(folder)) }),
    location: folder,
  };
}

export function storeFlags(location: string): readonly string[] {
  if (database === undefined) return [];
  return [`--store=${inSchema(database, digestOf(location))}`];
}

function digestOf(location: string): string {
  return createHash("sha256").update(location).digest("hex").slice(0, 16);
}

/** A store of its own for a world whose time only the test moves. */
export async function openTestStore(clock: SimClock): Promise<Store> {
  if (database === undefined) return openMemoryStore({ clock });
  const { openPostgresStore } = await import("../../src/store/postgres/open-postgres-store.ts");
  const node = randomBytes(6).toString("hex");
  const url = inSchema(database, node);
  const store = await openPostgresStore({ url, node, clock, log: silentLog, ownTime: true });
  open.push(store);
  if (open.length > storesOpenMax) await open.shift()?.close();
  return store;
}
