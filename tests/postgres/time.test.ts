import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ticksPerSecond } from "../../src/base/ticks.ts";
import { realClock } from "../../src/host/world.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { k, put, read } from "../harness/store/store-steps.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openDatabase, type Database } from "./database.ts";

let database: Database;
let nodes = 0;
const clock = realClock();
const daySeconds = 86_400;
/** The machine may be busy. */
const lateSecondsMax = 20;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.stop());

async function open(url: string, isAlone: boolean): Promise<PostgresStore> {
  nodes += 1;
  const store = await openPostgresStore({ url, node: `node-${nodes}`, clock, log: silentLog });
  await store.keepTime(isAlone);
  return store;
}

function schemaOf(url: string): string {
  return new URL(url).searchParams.get("schema") ?? "";
}

/** To a node, the database's clock and the shift are one: it does not see which of them jumps. */
async function jump(url: string, seconds: number): Promise<void> {
  const by = BigInt(seconds) * ticksPerSecond;
  await database.query(`UPDATE ${schemaOf(url)}.state SET clock_shift = clock_shift + ${by}`);
}

async function shiftSeconds(url: string): Promise<number> {
  const { rows } = await database.query(`SELECT clock_shift FROM ${schemaOf(url)}.state`);
  const [row] = rows as { clock_shift: string }[];
  return Number((BigInt(row?.clock_shift ?? 0) + ticksPerSecond / 2n) / ticksPerSecond);
}

/** Store time of a new state minus the time of this machine. */
async function aheadSeconds(store: PostgresStore): Promise<number> {
  await put(store, k("time"), "1");
  const now = await store.transact(async (tx) => tx.now);
  return Number(now - clock.wall()) / Number(ticksPerSecond);
}

describe("a jump of the database's clock", () => {
  it.each([30, -30, 9 * daySeconds, -9 * daySeconds])(
    "by %d s does not change store time",
    async (seconds) => {
      const url = database.newUrl();
      const first = await open(url, true);
      const second = await open(url, false);
      await jump(url, seconds);
      for (const store of [first, second]) {
        expect(Math.abs(await aheadSeconds(store))).toBeLessThan(lateSecondsMax);
      }
      await expect.poll(() => shiftSeconds(url)).toBe(0);
      const third = await open(url, false);
      for (const store of [first, second, third]) {
        expect(Math.abs(await aheadSeconds(store))).toBeLessThan(lateSecondsMax);
        await store.close();
      }
    },
  );

  it("at the start of a node waits for the others to correct it", async () => {
    const url = database.newUrl();
    const first = await open(url, true);
    const starting = open(url, false);
    await jump(url, daySeconds);
    const second = await starting;
    expect(Math.abs(await aheadSeconds(second))).toBeLessThan(lateSecondsMax);
    for (const store of [first, second]) await store.close();
  });

  it("while no node runs is followed, but never back", async () => {
    const url = database.newUrl();
    await (await open(url, true)).close();
    await jump(url, -daySeconds);
    const first = await open(url, true);
    expect(await shiftSeconds(url)).toBe(0);
    expect(Math.abs(await aheadSeconds(first))).toBeLessThan(lateSecondsMax);
    await database.query(`UPDATE ${schemaOf(url)}.state SET ticks = ticks + 864000000000`);
    await first.close();
    await jump(url, 2 * daySeconds);
    const second = await open(url, true);
    expect(await shiftSeconds(url)).toBe(2 * daySeconds);
    await second.close();
  });
});

it("the last batch of a node is kept, whatever the database's clock says", async () => {
  const url = database.newUrl();
  const first = await open(url, true);
  await put(first, k("a"), "1");
  const schema = schemaOf(url);
  await database.query(`UPDATE ${schema}.batch SET made_at = now() - interval '9 days'`);
  const second = await open(url, true);
  const { rows } = await database.query(`SELECT number FROM ${schema}.batch`);
  expect(rows).toEqual([{ number: "1" }]);
  await first.transact(async (tx) => tx.delete(k("a")));
  expect(await read(second, k("a"))).toBeUndefined();
  for (const store of [first, second]) await store.close();
});
