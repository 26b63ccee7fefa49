import type { Ticks } from "../base/ticks.ts";

/** A call that waits until a record changes: a file whose caching grants are being broken. */
export interface CallWait {
  readonly account: string;
  readonly operation: string;
  /** The key of the record. */
  readonly key: Uint8Array;
  /** Wall time. */
  readonly since: Ticks;
}

/** The waiting calls of this process, for the admin API. */
export class CallWaits {
  readonly #waits = new Set<CallWait>();

  /** Returns a function that ends the wait. */
  add(wait: CallWait): () => void {
    this.#waits.add(wait);
    return () => void this.#waits.delete(wait);
  }

  list(): readonly CallWait[] {
    return [...this.#waits];
  }
}
