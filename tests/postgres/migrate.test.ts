import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { realClock } from "../../src/host/world.ts";
import { increment, k, read } from "../harness/store/store-steps.ts";
import { migrate, migrations } from "../../src/store/postgres/schema.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openDatabase, type Database } from "./database.ts";

let database: Database;
let nodes = 0;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.stop());

function open(url: string) {
  nodes += 1;
  const node = `upgraded-${nodes}`;
  return openPostgresStore({ url, node, clock: realClock(), log: silentLog });
}

const schemaOf = (url: string): string => new URL(url).searchParams.get("schema") ?? "";

/** The migration that a node of another version runs when it starts. */
async function upgrade(schema: string, steps: typeof migrations): Promise<void> {
  const options = `-c search_path=${schema}`;
  const pool = new pg.Pool({ connectionString: database.url, options, max: 1 });
  try {
    await migrate({ pool, schema, triesMax: 1, steps });
  } finally {
    await pool.end();
  }
}

const statements = [`ALTER TABLE batch ADD COLUMN remark text`, `CREATE TABLE later (id bigint)`];
const nextVersion = [...migrations, { oldestReader: 1, statements }];

describe("a rolling upgrade", () => {
  it("runs once, by the first of several new nodes, while old nodes continue", async () => {
    const url = database.newUrl();
    const old = await Promise.all([open(url), open(url)]);
    const load = { acknowledged: 0, isOver: false };
    const running = old.map(async (store) => {
      while (!load.isOver) {
        await store.transact((tx) => increment(tx, k("count")));
        load.acknowledged += 1;
      }
    });
    const untilMore = async (): Promise<void> => {
      const enough = load.acknowledged + 20;
      while (load.acknowledged < enough) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await untilMore();
    await Promise.all([1, 2, 3].map(() => upgrade(schemaOf(url), nextVersion)));
    await untilMore();
    const another = await open(url);
    const acknowledgedBefore = load.acknowledged;
    const count = Number(await read(another, k("count")));
    expect(count).toBeGreaterThanOrEqual(acknowledgedBefore);
    load.isOver = true;
    await Promise.all(running);
    expect(await read(another, k("count"))).toBe(String(load.acknowledged));
    const { rows } = await database.query(`SELECT version FROM ${schemaOf(url)}.format`);
    expect(rows).toEqual([{ version: String(migrations.length + 1) }]);
    await Promise.all([...old, another].map((store) => store.close()));
  });

  it("that fails midway changes nothing", async () => {
    const url = database.newUrl();
    const store = await open(url);
    await store.transact((tx) => increment(tx, k("count")));
    const broken = [...migrations, { oldestReader: 1, statements: [...statements, "no sense"] }];
    await expect(upgrade(schemaOf(url), broken)).rejects.toThrow("syntax error");
    const { rows } = await database.query(
      `SELECT count(*) FROM information_schema.tables
         WHERE table_schema = '${schemaOf(url)}' AND table_name = 'later'`,
    );
    expect(rows).toEqual([{ count: "0" }]);
    expect(await store.transact((tx) => increment(tx, k("count")))).toBe(2);
    await store.close();
  });
});
