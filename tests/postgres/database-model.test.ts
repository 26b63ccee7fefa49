import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Attempt } from "../../src/store/attempt.ts";
import { batchQuery } from "../../src/store/postgres/batch.ts";
import { migrate } from "../../src/store/postgres/schema.ts";
import { scanQuery } from "../../src/store/postgres/rows.ts";
import type { StateReader } from "../../src/store/engine.ts";
import { treeScan } from "../../src/store/tree.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import { commitBatch, emptyTables, viewOf, type Value } from "../simulate/nodes/tables.ts";
import { openDatabase, type Database } from "./database.ts";

const schema = "model";
const batches = 400;
const everything = { start: "", end: "\u00ff".repeat(8), reverse: false };

let database: Database;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openDatabase();
  const options = `-c search_path=${schema}`;
  pool = new pg.Pool({ connectionString: database.url, options, max: 1 });
  await migrate({ pool, schema, triesMax: 1 });
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

/** A short key, or one whose end is outside the index. */
function anyKey(random: Random): Uint8Array {
  const key = new Uint8Array(random.pick([1, 1, 1, 2100])).fill(1);
  key[key.length - 1] = 1 + random.below(3);
  key[0] = 1 + random.below(5);
  return key;
}

/** Transactions that read and write a few keys, often of states that are no longer the latest. */
async function someAttempt(random: Random, state: StateReader): Promise<Attempt> {
  const attempt = new Attempt(state, BigInt(random.below(1000)));
  for (let steps = random.below(4); steps >= 0; steps -= 1) {
    const key = anyKey(random);
    const value = Uint8Array.of(random.below(256));
    const run = random.pick<() => unknown>([
      () => attempt.get(key),
      () => attempt.put(key, value),
      () => attempt.delete(key),
      () => attempt.add(Uint8Array.of(9, random.below(2)), BigInt(random.below(9)) - 4n),
      () => attempt.append(Uint8Array.of(8), value),
      async () => {
        const bounds = { start: Uint8Array.of(1 + random.below(3)), end: Uint8Array.of(5) };
        for await (const _ of attempt.range(bounds)) break;
      },
    ]);
    await Promise.resolve(run());
  }
  return attempt;
}

/** The outcome of a batch: its row, or the code of its error. */
function settled(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

it("the model of commit_batch does what the function in the database does", async () => {
  const random = randomFrom(1);
  let tables = emptyTables();
  const states = [viewOf(tables)];
  for (let number = 1; number <= batches; number += 1) {
    const attempts: Attempt[] = [];
    for (let count = 1 + random.below(4); count > 0; count -= 1) {
      attempts.push(await someAttempt(random, states.at(-1 - random.below(states.length))!));
    }
    // Now and then a batch again, or one that comes too late.
    const identity = { node: `node-${random.below(3)}`, number: number - random.below(3) };
    const query = batchQuery(attempts, identity);
    const modelled = settled(() => {
      const { tables: next, row } = commitBatch(tables, query.values as Value[]);
      tables = next;
      return { before: row.sequence_before, lost: [...row.lost].toSorted() };
    });
    const real = await pool.query<{ sequence_before: string; lost: string[] }>(query).then(
      ({ rows: [row] }) => ({
        before: row!.sequence_before,
        lost: [...new Set(row!.lost)].toSorted(),
      }),
      (error: { code?: string }) => error.code,
    );
    expect(modelled, `batch ${number}`).toEqual(real);
    states.push(viewOf(tables));
    if (states.length > 4) states.shift();
    if (number % 20 === 0) {
      await pool.query("SELECT give_up($1)", [`node-${number}`]);
      await expectSameEntries(tables);
    }
  }
});

async function expectSameEntries(tables: ReturnType<typeof emptyTables>): Promise<void> {
  const { rows } = await pool.query<[Buffer, Buffer, string, Buffer]>(
    scanQuery(everything, 10_000),
  );
  const real = rows.map(([head, tail, stamp, value]) =>
    [Buffer.concat([head, tail]).toString("hex"), stamp, value.toString("hex")].join(),
  );
  const modelled = treeScan(tables.entries, everything, Infinity).map(({ key, revision, value }) =>
    [Buffer.from(key).toString("hex"), revision, Buffer.from(value).toString("hex")].join(),
  );
  expect(modelled).toEqual(real);
  const {
    rows: [state],
  } = await pool.query<{ sequence: string; ticks: string }>("SELECT sequence, ticks FROM state");
  expect([tables.sequence, tables.ticks].map(String)).toEqual([state?.sequence, state?.ticks]);
}
