import { afterAll, beforeAll } from "vitest";

import { storeConformance } from "../harness/store/conformance.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openDatabase, type Database } from "./database.ts";

let database: Database;
let nodes = 0;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.stop());

storeConformance("the postgres store", (options) => {
  nodes += 1;
  const url = database.newUrl();
  return openPostgresStore({ ...options, url, node: `node-${nodes}`, log: silentLog });
});
