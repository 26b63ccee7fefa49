import { existsSync } from "node:fs";
import type { Client } from "pg";
import { join } from "node:path";
import { ticksPerMillisecond, unixEpochTicks } from "../../base/ticks.ts";
import { messageOf } from "../../host/refused.ts";
import { readMasterKey } from "../../host/master-key.ts";
import { unwrapKeys } from "../../store/encryption/keyring.ts";
import { keyringKey } from "../../store/encryption/record-cipher.ts";
import { checkLength, recordsFile } from "../../store/lmdb/data-file.ts";
import { StoreDamaged } from "../../store/lmdb/location.ts";
import { textOfKey } from "../../encoding/keys.ts";
import type { Options } from "../../server/options.ts";
import type { Clock } from "../../base/world.ts";
import { ok, problem, type Finding } from "./check-machine.ts";

/** Checks of `etagere doctor` where data is stored: database, bucket and encryption. */

/** What the check of a database has found, with facts that other checks need. */
interface DatabaseFacts {
  readonly finding: Finding;
  /** Time of the database's clock, for `checkClock`; undefined if it was not reached. */
  readonly now?: bigint;
  /** The wrapped data keys, for `checkEncryption`; undefined if there are none. */
  readonly keyring?: Uint8Array | undefined;
}

/** A database that does not answer for this long counts as unreachable. */
const connectMillisecondsMax = 5000;

/** Connects to the database of `--store` as the server does, and changes nothing. */
export async function checkDatabase(url: string): Promise<DatabaseFacts> {
  const subject = "database";
  const { default: pg } = await import("pg");
  const { addressesOf, withoutPassword } = await import("../../store/postgres/addresses.ts");
  const place = withoutPassword(url);
  const [first = url] = addressesOf(url);
  const address = new URL(first);
  const schema = address.searchParams.get("schema") ?? "etagere";
  for (const name of ["schema", "connections"]) address.searchParams.delete(name);
  const client = new pg.Client({
    connectionString: address.href,
    connectionTimeoutMillis: connectMillisecondsMax,
    query_timeout: connectMillisecondsMax,
  });
  // If no listener were registered, a connection that the database closes would end this process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ milliseconds: string; version: string }>(
      "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS milliseconds, " +
        "current_setting('server_version') AS version",
    );
    const [row] = rows;
    const now = unixEpochTicks + BigInt(row?.milliseconds ?? 0) * ticksPerMillisecond;
    const finding = ok(subject, `PostgreSQL ${row?.version} at ${place}`);
    return { finding, now, keyring: await keyringIn(client, schema) };
  } catch (error) {
    const advice =
      "check that the database runs, that this machine may connect (pg_hba.conf, firewall), and " +
      "user, password and name in --store";
    return { finding: problem(subject, `${place}: ${messageOf(error)}`, advice) };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Reads the wrapped data keys from the database; undefined before the schema is created. */
async function keyringIn(client: Client, schema: string): Promise<Uint8Array | undefined> {
  const known = await client.query<{ readonly found: string | null }>(
    "SELECT to_regclass($1) AS found",
    [`${schema}.entry`],
  );
  if (known.rows[0]?.found === null) return undefined;
  const text = `SELECT value FROM "${schema.replaceAll('"', '""')}".entry WHERE head = $1`;
  const { rows } = await client.query<{ readonly value: Buffer }>(text, [Buffer.from(keyringKey)]);
  return rows[0]?.value;
}

/** Checks the bucket of `--content` by listing it, as the server does when it starts. */
export async function checkBucket(location: string, clock: Clock): Promise<Finding> {
  const subject = "bucket";
  const place = location.split("?")[0] ?? location;
  try {
    const { readAwsSettings } = await import("../../data/storage-backends.ts");
    const { openS3Files } = await import("../../content/s3/open-s3-files.ts");
    const files = await openS3Files({ location, ...(await readAwsSettings()), clock });
    files.close();
    return ok(subject, `${place} can be listed`);
  } catch (error) {
    const advice =
      "check that the bucket exists, the endpoint and region in --content, and the credentials " +
      "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), which need list, read, write and delete";
    return problem(subject, `${place}: ${messageOf(error)}`, advice);
  }
}

/** Checks that the master key opens the data keys. They are read from the data folder, or with
 *  `--store` from `keyring`, the one stored in the database. */
export async function checkEncryption(
  { encryption, store }: Options,
  location: string,
  keyring: Uint8Array | undefined,
): Promise<Finding[]> {
  const subject = "encryption";
  try {
    const stored = store === undefined ? await keyringOf(location) : keyring;
    if (encryption === undefined && stored === undefined) return [];
    const master = encryption === undefined ? undefined : await readMasterKey(encryption);
    if (stored === undefined) return [ok(subject, "the master key can be read; no data yet")];
    const keys = unwrapKeys(stored, master);
    const text = `the master key opens ${keys.length} data key${keys.length === 1 ? "" : "s"}`;
    return [ok(subject, text)];
  } catch (error) {
    if (error instanceof StoreDamaged) {
      return [problem("data folder", error.message, "restore the whole folder from one backup")];
    }
    const advice =
      "give the master key of this data with --encryption; without it the data cannot be read " +
      "(docs/guides/encryption.md)";
    return [problem(subject, messageOf(error), advice)];
  }
}

async function keyringOf(location: string): Promise<Uint8Array | undefined> {
  const path = join(location, "store", recordsFile);
  if (!existsSync(path)) return undefined;
  checkLength(path);
  const { LmdbEngine } = await import("../../store/lmdb/lmdb-engine.ts");
  const engine = new LmdbEngine({ path, noSync: false, readOnly: true });
  const state = engine.open();
  try {
    return state.get(keyringKey, textOfKey(keyringKey))?.value;
  } finally {
    state.close();
    await engine.close();
  }
}
