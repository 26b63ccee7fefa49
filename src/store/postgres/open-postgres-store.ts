import type { Meter } from "../../core/meter.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { Clock, Log } from "../../core/world.ts";
import { openConnections } from "./connections.ts";
import { DatabaseTime } from "./database-time.ts";
import { ForeseenStates } from "./foreseen-states.ts";
import { Memory } from "./memory.ts";
import { migrate } from "./migrate.ts";
import { PostgresStore } from "./postgres-store.ts";
import { States } from "./states.ts";

export interface PostgresStoreLocation {
  /** `postgres://user:password@host:port/database`; `?schema=…&connections=…` are ours, the rest is
   *  the driver's. */
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
  const { url, schema, readersMax } = parseLocation(options.url, ephemeral);
  const connections = openConnections({ url, schema, readersMax, log });
  try {
    await migrate(connections.writers, schema);
    await connections.writers.query("DELETE FROM batch WHERE made_at < now() - $1::interval", [
      batchesAreKept,
    ]);
    const memory = new Memory();
    const parts = {
      pool: connections.readers,
      clock,
      time: new DatabaseTime(clock, options.ownTime),
      memory,
    };
    const [states, foreseen] = [new States(parts), new ForeseenStates(parts)];
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

function parseLocation(
  location: string,
  ephemeral: boolean,
): { url: string; schema: string; readersMax: number } {
  const url = new URL(location);
  const schema = url.searchParams.get("schema") ?? schemaDefault;
  const readersMax = Number(url.searchParams.get("connections") ?? readersMaxDefault);
  url.searchParams.delete("schema");
  url.searchParams.delete("connections");
  if (!Number.isInteger(readersMax) || readersMax < 1) {
    throw new Error("connections: must be a whole number above 0");
  }
  return { url: url.href, schema: ephemeral ? `${schema}_ephemeral` : schema, readersMax };
}
