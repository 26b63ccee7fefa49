import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { StartOptions } from "../../src/index.ts";
import { encryptionOfTests, isEncrypted } from "./test-encryption.ts";
import type { SimClock } from "./sim-world.ts";
import { openMemoryStore } from "../../src/store/memory/open-memory-store.ts";
import { silentLog } from "./silent-log.ts";
import type { Store } from "../../src/store/store.ts";

/**
 * With `ETAGERE_TEST_STORE=postgres` (or a database URL), all tests that do not require an engine
 * run on a database.
 */
const database = process.env["ETAGERE_TEST_STORE"];
/** Time travel and saved states need an engine of this process: `skip(isOnDatabase, reason)`. */
export const isOnDatabase = database !== undefined;
/** With `ETAGERE_TEST_CONTENT=s3` (or a bucket URL), the same for content. */
const bucket = process.env["ETAGERE_TEST_CONTENT"];
/** A property opens a store for each of its runs and does not use it afterwards. */
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

/**
 * Start options for a test's storage. The same location has the same data when it is opened again.
 */
export function placeOf({ location }: StartOptions): StartOptions {
  if (database === undefined && bucket === undefined && !isEncrypted) {
    return location === undefined ? { inMemoryPersistence: true } : {};
  }
  const folder = location ?? mkdtempSync(join(tmpdir(), "etagere-test-"));
  return {
    ...(database === undefined ? {} : { store: inSchema(database, digestOf(folder)) }),
    ...(bucket === undefined ? {} : { content: underPrefix(bucket, digestOf(folder)) }),
    ...encryptionOfTests(),
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

/** A new store on a simulated clock. */
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
