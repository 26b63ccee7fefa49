import type pg from "pg";

import { schemaLock } from "./postgres-specifics.ts";
import { migrations } from "./schema.ts";
import type { Migration } from "./schema.ts";

const schemaNames = /^[a-z_][a-z0-9_]{0,40}$/;

/** Timeout of one step of the schema. A step on a large table takes long, and nodes that start
 *  meanwhile wait for it. */
const stepMillisecondsMax = 600_000;

export interface MigrateOptions {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** Number of servers: each try connects to the next one. */
  readonly triesMax: number;
  readonly steps?: readonly Migration[];
}

/** Creates the schema or upgrades an older one: one node at a time, in one transaction. */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { pool, schema, triesMax, steps = migrations } = options;
  if (!schemaNames.test(schema)) {
    throw new Error(
      `schema: must consist of a-z, 0-9 and _, at most 41 characters, got "${schema}"`,
    );
  }
  const client = await connect(pool, triesMax);
  try {
    await client.query("BEGIN");
    await client.query(`SET LOCAL statement_timeout = ${stepMillisecondsMax}`);
    // A second node waits here and then finds the schema up to date.
    await client.query(withLongTimeout(schemaLock(schema)));
    await client.query(withLongTimeout(`CREATE SCHEMA IF NOT EXISTS ${schema}`));
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

/** Overrides the driver's timeout, which is meant for short queries. */
function withLongTimeout(text: string): pg.QueryConfig & { query_timeout: number } {
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
    throw new Error(
      `schema ${schema} has format ${found.version}; ` +
        `this release supports ${steps.length}: upgrade this node`,
    );
  }
  const version = Number(found?.version ?? 0);
  for (const step of steps.slice(version)) {
    for (const statement of step.statements) await client.query(withLongTimeout(statement));
  }
  const last = steps.at(-1);
  if (version >= steps.length || last === undefined) return;
  await client.query("DELETE FROM format");
  await client.query("INSERT INTO format VALUES ($1, $2)", [steps.length, last.oldestReader]);
}
