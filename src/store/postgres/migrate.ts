import type pg from "pg";

import { schemaLock } from "./postgres-specifics.ts";
import { migrations } from "./schema.ts";
import type { Migration } from "./schema.ts";

const schemaNames = /^[a-z_][a-z0-9_]{0,40}$/;

/** A step over a large table takes its time, and those who start meanwhile wait for it. */
const stepMillisecondsMax = 600_000;

export interface MigrateOptions {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** As many as there are servers: each try goes to the next. */
  readonly triesMax: number;
  readonly steps?: readonly Migration[];
}

/** Makes the schema, or brings an older one up to date: one node at a time, all or nothing. */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { pool, schema, triesMax, steps = migrations } = options;
  if (!schemaNames.test(schema)) {
    throw new Error(`a schema is named by small letters, digits and _, not "${schema}"`);
  }
  const client = await connect(pool, triesMax);
  try {
    await client.query("BEGIN");
    await client.query(`SET LOCAL statement_timeout = ${stepMillisecondsMax}`);
    // Whoever comes second waits here, and then finds nothing left to do.
    await client.query(patient(schemaLock(schema)));
    await client.query(patient(`CREATE SCHEMA IF NOT EXISTS ${schema}`));
    await client.query(
      "CREATE TABLE IF NOT EXISTS format (version bigint NOT NULL, oldest_reader bigint NOT NULL)",
    );
    await bringUpToDate(client, schema, steps);
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** The driver's own limit is for queries that answer at once. */
function patient(text: string): pg.QueryConfig & { query_timeout: number } {
  return { text, query_timeout: stepMillisecondsMax };
}

async function connect(pool: pg.Pool, triesMax: number): Promise<pg.PoolClient> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await pool.connect();
    } catch (error) {
      if (tries >= triesMax) throw error;
    }
  }
}

async function bringUpToDate(
  client: pg.PoolClient,
  schema: string,
  steps: readonly Migration[],
): Promise<void> {
  const { rows } = await client.query<{ version: string; oldest_reader: string }>(
    "SELECT version, oldest_reader FROM format",
  );
  const [found] = rows;
  if (found !== undefined && Number(found.oldest_reader) > steps.length) {
    throw new Error(`schema ${schema} has format ${found.version}, and this is ${steps.length}`);
  }
  const version = Number(found?.version ?? 0);
  for (const step of steps.slice(version)) {
    for (const statement of step.statements) await client.query(patient(statement));
  }
  const last = steps.at(-1);
  if (version >= steps.length || last === undefined) return;
  await client.query("DELETE FROM format");
  await client.query("INSERT INTO format VALUES ($1, $2)", [steps.length, last.oldestReader]);
}
