import type { Log } from "../base/world.ts";

/** Promises that no request awaits, such as closing the handles of a lost connection. */
export class BackgroundWork {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();
  /** Work that closes sessions and handles, by the account of the session. */
  readonly #byAccount = new Map<string, Set<Promise<void>>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Tracks work until it ends, so that `awaitAll` can wait for it, and logs its failure. */
  add(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "SMB background work failed");
      })
      .finally(() => void this.#running.delete(tracked));
    this.#running.add(tracked);
    return tracked;
  }

  /** Tracks work like `add`; in addition the next SESSION_SETUP of the account waits for it. */
  addForAccount(account: string, work: Promise<void>): void {
    const ofAccount = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, ofAccount);
    const tracked = this.add(work).finally(() => {
      ofAccount.delete(tracked);
      if (ofAccount.size === 0) this.#byAccount.delete(account);
    });
    ofAccount.add(tracked);
  }

  /** Resolves when the sessions and handles of the account that are being closed now are closed.
   *  Does not wait for other work, which may never pause, such as change notifications. */
  async awaitAccount(account: string): Promise<void> {
    const ofAccount = this.#byAccount.get(account);
    if (ofAccount !== undefined) await Promise.all(ofAccount);
  }

  async awaitAll(): Promise<void> {
    await Promise.all(this.#running);
  }
}
