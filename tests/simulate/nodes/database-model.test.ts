import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../../harness/silent-log.ts";
import { storeConformance } from "../../harness/store/conformance.ts";
import { noFaults } from "../faults.ts";
import { Moments } from "../moments.ts";
import { Scheduler } from "../scheduler.ts";
import { SimProcess } from "../sim-process.ts";
import { SimDatabase } from "./sim-database.ts";
import { simConnections } from "./sim-pool.ts";

const time = { bootId: "boot-1", bootedAt: 0, wallOffsetMicroseconds: 0 };
const keepAliveMicroseconds = 1000;
let nodes = 0;

/** The store of a node, on the model of the database instead of the driver and a database. */
storeConformance("the postgres store on the model of its database", async (options) => {
  nodes += 1;
  const scheduler = new Scheduler(nodes);
  const random = { bytes: (length: number) => new Uint8Array(length) };
  const process = new SimProcess({ scheduler, pid: 1, time: () => time, random, write: () => {} });
  const moments = new Moments(scheduler);
  const conditions = { isDiskFull: false, diskSlowness: 1, hasFaults: false, moments };
  const latencies = {
    statementMicroseconds: [10, 100],
    flushMicroseconds: [10, 100],
    networkMicroseconds: [10, 100],
  } as const;
  const database = new SimDatabase({ scheduler, conditions, ...latencies });
  const connect = simConnections({
    database,
    process,
    scheduler,
    conditions,
    rates: noFaults,
    counts: new Map(),
    ...latencies,
    blockedUntil: () => 0,
  });
  let isClosed = false;
  const keepAlive = (): void => void scheduler.schedule(keepAliveMicroseconds, keepAlive);
  keepAlive();
  void scheduler.run(() => isClosed);
  const url = "postgres://simulated/database";
  const node = `node-${nodes}`;
  const store = await openPostgresStore({
    ...options,
    url,
    node,
    log: silentLog,
    connect,
    ownTime: true,
  });
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    isClosed = true;
  };
  return store;
});
