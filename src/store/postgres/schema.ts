import { notifyCommit, schemaLock } from "./postgres-specifics.ts";
import type pg from "pg";

/** The tables and functions of a database, and their creation and upgrade when a store is opened
 *  (`open-postgres-store.ts`). A batch of transactions is validated and written by one function of
 *  the database (`commit_batch`): a round trip in between, while other nodes wait for the lock,
 *  would limit all nodes together. */

/** A step of the schema: step `n` leads from version `n` to `n + 1`. Nodes of earlier versions keep
 *  running during a rolling upgrade if they can work with the new schema; `oldestReader` is the
 *  oldest version that can. */
interface Migration {
  readonly oldestReader: number;
  readonly statements: readonly string[];
}

/** `state` has one row, which every commit locks: commits are serial, in one order for all nodes.
 *  `entry` is the key space. `batch` has the last commit of each node: if its response was lost,
 *  sending it again returns the result instead of committing twice. `given_up` lists fenced nodes,
 *  whose entries other nodes have taken over: they must not commit any more. */
const tables = [
  `CREATE TABLE state (only_row bigint PRIMARY KEY, sequence bigint NOT NULL, ticks bigint NOT NULL)
     WITH (fillfactor = 50)`,
  `INSERT INTO state VALUES (1, 0, 0)`,
  `CREATE TABLE batch (node text PRIMARY KEY, number bigint NOT NULL, sequence bigint NOT NULL,
     dropped bigint[] NOT NULL, made_at timestamptz NOT NULL) WITH (fillfactor = 50)`,
  `CREATE TABLE given_up (node text PRIMARY KEY, since timestamptz NOT NULL)`,
  `CREATE TABLE entry (head bytea NOT NULL, digest bytea NOT NULL, tail bytea NOT NULL,
     stamp bigint NOT NULL, value bytea NOT NULL, PRIMARY KEY (head, digest))`,
];

/** SQLSTATE of a commit by a fenced node (one that others took for ended), and of a batch sent out
 *  of order, which is a bug. */
export const fencedCode = "EG001";
const outOfOrderCode = "EG002";

/** Functions that read and write counters: 8 bytes, signed, little-endian (`store/store.ts`). */
const counters = [
  `CREATE FUNCTION counter_of(value bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
     SELECT get_byte(value, 0)::bigint | (get_byte(value, 1)::bigint << 8)
       | (get_byte(value, 2)::bigint << 16) | (get_byte(value, 3)::bigint << 24)
       | (get_byte(value, 4)::bigint << 32) | (get_byte(value, 5)::bigint << 40)
       | (get_byte(value, 6)::bigint << 48) | (get_byte(value, 7)::bigint << 56) $$`,
  `CREATE FUNCTION counter_bytes(count bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
     SELECT set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(
       '\\x0000000000000000'::bytea, 0, (count & 255)::int), 1, ((count >> 8) & 255)::int),
       2, ((count >> 16) & 255)::int), 3, ((count >> 24) & 255)::int),
       4, ((count >> 32) & 255)::int), 5, ((count >> 40) & 255)::int),
       6, ((count >> 48) & 255)::int), 7, ((count >> 56) & 255)::int) $$`,
];

/** Validates the transactions of a batch against the state under the lock, writes the valid ones in
 *  their order and returns the numbers of the others as `lost`. `read_*` are the keys of the read
 *  sets with the revision that was read (0 if absent). `range_*` are the ranges of the read sets: a
 *  range is unchanged if it has as many entries as when it was read, and none with a later
 *  revision. `lean_*` are dependencies: transaction `lean_tx` has read uncommitted changes of
 *  `lean_on`. Kinds of writes: 0 put, 1 delete, 2 add, 3 append: the key is the head, the sequence
 *  of the transaction and the tail (`store/logs.ts`). */
const commitBatch = `CREATE OR REPLACE FUNCTION commit_batch(
    batch_node text, batch_number bigint, batch_ticks bigint, batch_size bigint,
    read_tx bigint[], read_head bytea[], read_digest bytea[], read_stamp bigint[],
    range_tx bigint[], range_start_head bytea[], range_start_tail bytea[],
    range_end_head bytea[], range_end_tail bytea[], range_count bigint[], range_sequence bigint[],
    lean_tx bigint[], lean_on bigint[], write_tx bigint[], write_kind bigint[],
    write_head bytea[], write_tail bytea[], write_digest bytea[], write_value bytea[]
  ) RETURNS TABLE (sequence_before bigint, lost bigint[]) LANGUAGE plpgsql AS $$
  DECLARE
    earlier record;
  BEGIN
    SELECT s.sequence INTO STRICT sequence_before FROM state s WHERE s.only_row = 1 FOR UPDATE;
    SELECT b.number, b.sequence, b.dropped INTO earlier FROM batch b WHERE b.node = batch_node;
    IF FOUND AND earlier.number = batch_number THEN
      sequence_before := earlier.sequence;
      lost := earlier.dropped;
      RETURN NEXT;
      RETURN;
    ELSIF FOUND AND earlier.number > batch_number THEN
      RAISE EXCEPTION 'a later batch was committed' USING ERRCODE = '${outOfOrderCode}';
    END IF;
    IF EXISTS (SELECT 1 FROM given_up g WHERE g.node = batch_node) THEN
      RAISE EXCEPTION 'the other nodes have given this one up' USING ERRCODE = '${fencedCode}';
    END IF;
    lost := ARRAY(
      SELECT r.tx FROM unnest(read_tx, read_head, read_digest, read_stamp)
          AS r(tx, head, digest, stamp)
        LEFT JOIN entry e ON e.head = r.head AND e.digest = r.digest
        WHERE COALESCE(e.stamp, 0) <> r.stamp
      UNION
      SELECT r.tx FROM unnest(range_tx, range_start_head, range_start_tail, range_end_head,
            range_end_tail, range_count, range_sequence)
          AS r(tx, start_head, start_tail, end_head, end_tail, entries, sequence)
        CROSS JOIN LATERAL (
          SELECT count(*) AS entries, max(e.stamp) AS youngest FROM entry e
            WHERE e.head >= r.start_head AND e.head <= r.end_head
              AND (e.head, e.tail) >= (r.start_head, r.start_tail)
              AND (e.head, e.tail) < (r.end_head, r.end_tail)
        ) found
        WHERE found.entries <> r.entries OR found.youngest > r.sequence);
    FOR place IN 1 .. COALESCE(array_length(lean_tx, 1), 0) LOOP
      IF lean_on[place] = ANY (lost) THEN lost := lost || lean_tx[place]; END IF;
    END LOOP;
    IF NOT EXISTS (SELECT 1 FROM unnest(write_tx) AS w(tx) WHERE NOT w.tx = ANY (lost)) THEN
      RETURN NEXT;
      RETURN;
    END IF;
    WITH kept AS MATERIALIZED (
      SELECT w.*, max(w.tx) FILTER (WHERE w.kind < 2) OVER (PARTITION BY w.head, w.digest) AS base
        FROM unnest(write_tx, write_kind, write_head, write_tail, write_digest, write_value)
          AS w(tx, kind, head, tail, digest, value)
        WHERE w.kind < 2 AND NOT w.tx = ANY (lost)
    ), gone AS (
      DELETE FROM entry e USING kept k
        WHERE k.kind = 1 AND k.tx = k.base AND e.head = k.head AND e.digest = k.digest
    )
    INSERT INTO entry (head, digest, tail, stamp, value)
      SELECT k.head, k.digest, k.tail, sequence_before + k.tx, k.value
        FROM kept k WHERE k.kind = 0 AND k.tx = k.base
      ON CONFLICT (head, digest) DO UPDATE SET stamp = excluded.stamp, value = excluded.value;
    IF 2 = ANY (write_kind) THEN
      WITH kept AS (
        SELECT w.*, max(w.tx) FILTER (WHERE w.kind < 2) OVER (PARTITION BY w.head, w.digest) AS base
          FROM unnest(write_tx, write_kind, write_head, write_tail, write_digest, write_value)
            AS w(tx, kind, head, tail, digest, value)
          WHERE NOT w.tx = ANY (lost)
      )
      INSERT INTO entry AS e (head, digest, tail, stamp, value)
        SELECT k.head, k.digest, k.tail, sequence_before + max(k.tx),
            counter_bytes(sum(counter_of(k.value))::bigint)
          FROM kept k WHERE k.kind = 2 AND (k.base IS NULL OR k.tx > k.base)
          GROUP BY k.head, k.digest, k.tail
        ON CONFLICT (head, digest) DO UPDATE SET stamp = excluded.stamp,
          value = counter_bytes(counter_of(e.value) + counter_of(excluded.value));
    END IF;
    IF 3 = ANY (write_kind) THEN
      INSERT INTO entry (head, digest, tail, stamp, value)
        SELECT w.head || '\\x28'::bytea || int8send(sequence_before + w.tx) || w.tail, '', '',
            sequence_before + w.tx, w.value
          FROM unnest(write_tx, write_kind, write_head, write_tail, write_value)
            AS w(tx, kind, head, tail, value)
          WHERE w.kind = 3 AND NOT w.tx = ANY (lost);
    END IF;
    UPDATE state SET sequence = sequence_before + batch_size,
        ticks = GREATEST(ticks, batch_ticks) WHERE only_row = 1;
    INSERT INTO batch AS b VALUES (batch_node, batch_number, sequence_before, lost, now())
      ON CONFLICT (node) DO UPDATE SET number = excluded.number, sequence = excluded.sequence,
        dropped = excluded.dropped, made_at = excluded.made_at;
    ${notifyCommit}
    RETURN NEXT;
  END $$`;

/** Fences a node, under the lock of every commit, so that a commit of it precedes this or fails. */
const giveUp = `CREATE FUNCTION give_up(lost_node text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM 1 FROM state WHERE only_row = 1 FOR UPDATE;
    INSERT INTO given_up VALUES (lost_node, now()) ON CONFLICT (node) DO NOTHING;
  END $$`;

export const migrations: readonly Migration[] = [
  { oldestReader: 1, statements: [...tables, ...counters, commitBatch, giveUp] },
  // Version 2: appends to logs (write kind 3).
  { oldestReader: 1, statements: [commitBatch] },
  // Version 3: store time minus the database's clock, which `time-keeper.ts` corrects.
  {
    oldestReader: 1,
    statements: ["ALTER TABLE state ADD COLUMN clock_shift bigint NOT NULL DEFAULT 0"],
  },
];

/** Names that need no quotes in SQL, with space for a suffix (PostgreSQL's limit is 63). */
const schemaNames = /^[a-z_][a-z0-9_]{0,40}$/;

/** Timeout of one migration step: 10 minutes, because on a large table it takes long, and nodes
 *  that start meanwhile wait for it. */
const stepMillisecondsMax = 600_000;

interface MigrateOptions {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** Number of servers in the address, because each try connects to the next one. */
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

/** Overrides the driver's timeout of 15 s, which is meant for short queries. */
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
