import pg from "pg";

import type { Log } from "../../base/world.ts";
import { Addresses } from "./addresses.ts";
import { plannerSettings, standbyQuery } from "./postgres-specifics.ts";

/** The connections of a server node to its database: pools for snapshots, short reads and commits,
 *  so that one kind does not delay another, and the choice of the primary among several servers. */

export interface Connections {
  /** Connections for snapshots (`state-pool.ts`); callers wait for an unused one. */
  readonly readers: pg.Pool;
  /** Connections for reads of one statement (`prefetcher.ts`), so that long listings on the other
   *  connections do not delay them. */
  readonly lookups: pg.Pool;
  /** Connections for commits, so that slow readers do not delay them. */
  readonly writers: pg.Pool;
  /** Makes a connection for notifications of the commits of other nodes (`node-watchers.ts`). */
  newListener(): pg.Client;
  close(): Promise<void>;
}

interface ConnectionOptions {
  /** `postgres://…` of each server, without Etagere's own parameters. */
  readonly urls: readonly string[];
  readonly schema: string;
  readonly readersMax: number;
  readonly log: Log;
}

/** One connection for commits, which run one after the other, and one for other writes. */
const writersMax = 2;
export const lookupsMax = 2;
const connectMilliseconds = 5_000;
const statementMilliseconds = 10_000;
/** Longer than `statement_timeout`, for a database that does not respond at all. */
const responseMilliseconds = 15_000;
/** Idle time after which the system probes a connection, once per second and 10 times. The database
 *  may have vanished without closing its connections, as in a failover. Found late, each of them
 *  costs a request or a heartbeat the whole time of a response, and a node that needs several
 *  connections would be fenced. */
const probeAfterMilliseconds = 5_000;
const idleMilliseconds = 60_000;
/** After this time the database ends a transaction that its node has left open, because it keeps
 *  old row versions. Longer than the 60 s that a view may be open. */
const idleTransactionMilliseconds = 90_000;

/** Creates the pools of connections of a node; they connect when they are first used. */
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
    keepAliveInitialDelayMillis: probeAfterMilliseconds,
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: statementMilliseconds,
    query_timeout: responseMilliseconds,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  };
  const pool = (max: number): pg.Pool => {
    const made = new pg.Pool({ ...config, Client, max, idleTimeoutMillis: idleMilliseconds });
    // The pool replaces a broken idle connection when it is needed. Only the message is logged: the
    // error object refers to the client, which has the secrets of its session.
    made.on("error", ({ message: reason }) =>
      log.warn({ reason }, "database connection lost; opening a new one when needed"),
    );
    return made;
  };
  const [readers, lookups, writers] = [pool(readersMax), pool(lookupsMax), pool(writersMax)];
  return {
    readers,
    lookups,
    writers,
    newListener: () => new Client({ ...config, query_timeout: responseMilliseconds }),
    close: async () => void (await Promise.all([readers, lookups, writers].map(end))),
  };
}

function end(pool: pg.Pool): Promise<void> {
  return pool.end();
}

type Connected = (error: Error | null) => void;

/** A class of clients that connect to the current one of several servers. If that fails, or it is a
 *  standby, all later connections go to the next server. */
function primaryClient(addresses: Addresses): typeof pg.Client {
  return class PrimaryClient extends pg.Client {
    readonly #address: string;

    constructor(config: pg.ClientConfig) {
      const address = addresses.current;
      super({ ...config, connectionString: address });
      this.#address = address;
      // The query that uses a broken connection fails anyway, but an `error` event without a
      // listener would end the process.
      this.on("error", () => undefined);
    }

    override connect(): Promise<this>;
    override connect(onConnected: Connected): void;
    override connect(onConnected?: Connected): Promise<this> | void {
      const connecting = this.#connect();
      if (onConnected === undefined) return connecting;
      connecting.then(
        () => onConnected(null),
        (error: unknown) => onConnected(error instanceof Error ? error : new Error(String(error))),
      );
    }

    async #connect(): Promise<this> {
      try {
        await super.connect();
        if (addresses.hasSeveral) await this.#checkPrimary();
        return this;
      } catch (error) {
        addresses.failed(this.#address);
        throw error;
      }
    }

    /** Rejects a standby: its state may be older than acknowledged commits. */
    async #checkPrimary(): Promise<void> {
      const { rows } = await this.query<{ is_standby: boolean }>(standbyQuery);
      if (rows[0]?.is_standby === false) return;
      await this.end();
      throw new Error("the server is a standby");
    }
  };
}
