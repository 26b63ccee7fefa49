import pg from "pg";

import type { Addresses } from "./addresses.ts";
import { standbyQuery } from "./postgres-specifics.ts";

type Connected = (error: Error | null) => void;

/** A client that connects to the current one of several servers. If that fails, or the server is a
 *  standby, all clients move on to the next server. */
export function primaryClient(addresses: Addresses): typeof pg.Client {
  return class PrimaryClient extends pg.Client {
    readonly #address: string;

    constructor(config: pg.ClientConfig) {
      const address = addresses.current;
      super({ ...config, connectionString: address });
      this.#address = address;
      // The query that uses a broken connection fails. The event has no further information, but
      // must have a listener.
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
