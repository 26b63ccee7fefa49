import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { addressesOf } from "./addresses.ts";
import { openConnections } from "./connections.ts";
import { DatabaseTime } from "./database-time.ts";
import { Prefetcher } from "./prefetcher.ts";
import { ReadCache } from "./read-cache.ts";
import { migrate } from "./migrate.ts";
import { PostgresStore } from "./postgres-store.ts";
import { StatePool } from "./state-pool.ts";

export interface PostgresStoreLocation {
  /** `postgres://user:password@host:port,host:port/database`; `?schema=…&connections=…` are ours,
   *  the rest is the driver's. */
  readonly url: string;
  /** Names this opening of the store; never used again. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  /** A key space apart, for what lives no longer than its nodes. */
  readonly ephemeral?: boolean;
  readonly snapshotAgeMax?: Ticks;
  /** Follows the given clock instead of the database's: for one node in a world whose time a test
   *  moves. */
  readonly ownTime?: boolean;
}

const schemaDefault = "etagere";
const readersMaxDefault = 16;
const batchesAreKept = "7 days";

export async function openPostgresStore(options: PostgresStoreLocation): Promise<PostgresStore> {
  const { clock, log, ephemeral = false } = options;
  const { urls, schema, readersMax } = parseLocation(options.url, ephemeral);
  const connections = openConnections({ urls, schema, readersMax, log });
  try {
    await migrate({ pool: connections.writers, schema, triesMax: urls.length });
    await connections.writers.query("DELETE FROM batch WHERE made_at < now() - $1::interval", [
      batchesAreKept,
    ]);
    const memory = new ReadCache();
    const parts = { clock, time: new DatabaseTime(clock, options.ownTime), memory };
    const states = new StatePool({ ...parts, pool: connections.readers });
    const foreseen = new Prefetcher({ ...parts, pool: connections.lookups });
    const view = await states.open();
    view.close();
    log.debug({ schema, sequence: view.sequence }, "store opened");
    const channel = `etagere_${schema}`;
    const { sequence } = view;
    return new PostgresStore({ ...options, connections, states, foreseen, channel, sequence });
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
  const ours = addresses[0]?.searchParams;
  const schema = ours?.get("schema") ?? schemaDefault;
  const readersMax = Number(ours?.get("connections") ?? readersMaxDefault);
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
