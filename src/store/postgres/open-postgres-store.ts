import { addressesOf } from "./addresses.ts";
import { openConnections } from "./connections.ts";
import { DatabaseTime } from "./database-time.ts";
import { Prefetcher } from "./prefetcher.ts";
import { ReadCache } from "./read-plans.ts";
import { migrate } from "./schema.ts";
import { PostgresStore, type NodeOptions } from "./postgres-store.ts";
import { StatePool } from "./state-pool.ts";

/** Opens the store in a PostgreSQL database, for `data/storage-backends.ts`: connects, creates or
 *  upgrades the schema, and puts the parts of the store together. */

interface PostgresStoreLocation extends NodeOptions {
  /** `postgres://user:password@host:port,host:port/database`. The parameters `schema` and
   *  `connections` are Etagere's, the others are passed to the driver. */
  readonly url: string;
  /** Opens another schema, for records that live no longer than their nodes. */
  readonly ephemeral?: boolean;
  /** Uses the given clock instead of the database's, for tests with one node and a manual clock. */
  readonly ownTime?: boolean;
  /** Connects to a simulated database instead, for simulations. */
  readonly connect?: typeof openConnections | undefined;
}

const schemaDefault = "etagere";
/** Connections for snapshots per node: a database often permits 100 in total. */
const readersMaxDefault = 16;
/** The record of a node's last batch is deleted after so many transactions. It is needed for the 15
 *  s in which a batch is sent again; no store commits so many meanwhile. The age in seconds does
 *  not count, because the database's clock may jump. */
const keptTransactions = 10_000_000;

export async function openPostgresStore(options: PostgresStoreLocation): Promise<PostgresStore> {
  const { clock, log, ephemeral = false, connect = openConnections } = options;
  const { urls, schema, readersMax } = parseLocation(options.url, ephemeral);
  const connections = connect({ urls, schema, readersMax, log });
  try {
    await migrate({ pool: connections.writers, schema, triesMax: urls.length });
    await connections.writers.query(
      "DELETE FROM batch WHERE sequence < (SELECT sequence FROM state) - $1::bigint",
      [keptTransactions],
    );
    const readCache = new ReadCache();
    const time = new DatabaseTime(clock, options.ownTime);
    const common = { clock, time, readCache, values: options.values };
    const states = new StatePool({ ...common, pool: connections.readers });
    const prefetcher = new Prefetcher({ ...common, pool: connections.lookups });
    const view = await states.open();
    view.close();
    log.debug({ schema, sequence: view.sequence }, "store opened");
    const channel = `etagere_${schema}`;
    const { sequence } = view;
    const opened = { connections, states, prefetcher, time, channel, sequence };
    return new PostgresStore({ ...options, ...opened });
  } catch (error) {
    await connections.close();
    throw error;
  }
}

interface ParsedLocation {
  readonly urls: readonly string[];
  readonly schema: string;
  readonly readersMax: number;
}

function parseLocation(location: string, ephemeral: boolean): ParsedLocation {
  const addresses = addressesOf(location).map((each) => new URL(each));
  const parameters = addresses[0]?.searchParams;
  const schema = parameters?.get("schema") ?? schemaDefault;
  const readersMax = Number(parameters?.get("connections") ?? readersMaxDefault);
  if (!Number.isInteger(readersMax) || readersMax < 1) {
    throw new Error("connections: must be a whole number above 0");
  }
  for (const { searchParams } of addresses) {
    searchParams.delete("schema");
    searchParams.delete("connections");
  }
  const urls = addresses.map(({ href }) => href);
  return { urls, schema: ephemeral ? `${schema}_ephemeral` : schema, readersMax };
}
