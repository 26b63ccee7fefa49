import pg from "pg";

import type { Log } from "../../base/world.ts";
import { Addresses } from "./addresses.ts";
import { plannerSettings } from "./postgres-specifics.ts";
import { primaryClient } from "./primary-client.ts";

export interface Connections {
  /** For states to read from; who finds none waits for a while. */
  readonly readers: pg.Pool;
  /** For reads of one statement, which no listing, however long, holds up. */
  readonly lookups: pg.Pool;
  /** Apart, so that slow readers never hold up a commit. */
  readonly writers: pg.Pool;
  /** One more, for hearing of others' commits. */
  newListener(): pg.Client;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** `postgres://…` of each server, without the parameters that are ours. */
  readonly urls: readonly string[];
  readonly schema: string;
  readonly readersMax: number;
  readonly log: Log;
}

const writersMax = 2;
export const lookupsMax = 2;
const connectMilliseconds = 5_000;
const statementMilliseconds = 10_000;
/** Longer than the database's own limit, for the case that it does not answer at all. */
const answerMilliseconds = 15_000;
const idleMilliseconds = 60_000;
/** A node that stopped in the midst of a view must not keep old rows for ever. */
const idleTransactionMilliseconds = 90_000;

export function openConnections(options: ConnectionOptions): Connections {
  const { urls, schema, readersMax, log } = options;
  const Client = primaryClient(new Addresses(urls));
  const settings: Record<string, string> = {
    ...plannerSettings,
    search_path: schema,
    default_transaction_isolation: "read\\ committed",
    idle_in_transaction_session_timeout: String(idleTransactionMilliseconds),
  };
  const config: pg.ClientConfig = {
    application_name: "etagere",
    keepAlive: true,
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: statementMilliseconds,
    query_timeout: answerMilliseconds,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  };
  const pool = (max: number): pg.Pool => {
    const made = new pg.Pool({ ...config, Client, max, idleTimeoutMillis: idleMilliseconds });
    // An idle connection that breaks is replaced when it is needed.
    made.on("error", (error) => log.warn({ err: error }, "database connection lost"));
    return made;
  };
  const [readers, lookups, writers] = [pool(readersMax), pool(lookupsMax), pool(writersMax)];
  return {
    readers,
    lookups,
    writers,
    newListener: () => new Client({ ...config, query_timeout: answerMilliseconds }),
    close: async () => void (await Promise.all([readers, lookups, writers].map(end))),
  };
}

function end(pool: pg.Pool): Promise<void> {
  return pool.end();
}
