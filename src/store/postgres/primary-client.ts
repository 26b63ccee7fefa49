import pg from "pg";

import type { Addresses } from "./addresses.ts";
import { isStandby } from "./postgres-specifics.ts";

type Connected = (error: Error | null) => void;

/**
 * The driver's client for one of several servers: it connects to the present one, and says so to
 * all others if that does not serve or only follows another.
 */
export function primaryClient(addresses: Addresses): typeof pg.Client {
  return class PrimaryClient extends pg.Client {
    readonly #address: string;

    constructor(config: pg.ClientConfig) {
      const address = addresses.current;
      super({ ...config, connectionString: address });
      this.#address = address;
      // A connection that breaks fails the query of whoever uses it; the event says nothing more.
      this.on("error", () => undefined);
    }

    override connect(): Promise<this>;
    override connect(told: Connected): void;
    override connect(told?: Connected): Promise<this> | void {
      const connecting = this.#connect();
      if (told === undefined) return connecting;
      connecting.then(
        () => told(null),
        (error: unknown) => told(error instanceof Error ? error : new Error(String(error))),
      );
    }

    async #connect(): Promise<this> {
      try {
        await super.connect();
        if (addresses.areSeveral) await this.#checkPrimary();
        return this;
      } catch (error) {
        addresses.failed(this.#address);
        throw error;
      }
    }

    /** What a standby shows may be older than what was acknowledged. */
    async #checkPrimary(): Promise<void> {
      const { rows } = await this.query<{ follows: boolean }>(isStandby);
      if (rows[0]?.follows === false) return;
      await this.end();
      throw new Error("the server is a standby");
    }
  };
}
