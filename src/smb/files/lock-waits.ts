import type { Ticks } from "../../base/ticks.ts";
import type { ByteSpan } from "../../file/locks/byte-ranges.ts";

/** An SMB request that waits for a lock or for the acknowledgement of a break. */
export interface LockWait {
  readonly share: bigint;
  /** The id of the file whose lock state it waits for. */
  readonly file: bigint;
  /** The remote address of the connection, as in `Open.client`. */
  readonly client: string;
  /** The number of the SMB command. */
  readonly command: number;
  /** The byte ranges of a LOCK request; undefined for a wait for a break. */
  readonly ranges: readonly ByteSpan[] | undefined;
  /** Wall time. */
  readonly since: Ticks;
}

/** The waiting requests of this process, for the admin API. */
export class LockWaits {
  readonly #waits = new Set<LockWait>();

  /** Returns a function that ends the wait. */
  add(wait: LockWait): () => void {
    this.#waits.add(wait);
    return () => void this.#waits.delete(wait);
  }

  list(): readonly LockWait[] {
    return [...this.#waits];
  }
}
