import type { Log } from "../base/world.ts";

/** Promises that no request awaits, such as closing the handles of a lost connection. */
export class BackgroundWork {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();
  /** Closing sessions and handles, by account. */
  readonly #byAccount = new Map<string, Set<Promise<void>>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Logs a failure of the work; `awaitAll` waits for it. */
  add(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "SMB background work failed");
      })
      .finally(() => void this.#running.delete(tracked));
    this.#running.add(tracked);
    return tracked;
  }

  /** As `add`; the account's next SESSION_SETUP waits for it as well. */
  addForAccount(account: string, work: Promise<void>): void {
    const ofAccount = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, ofAccount);
    const tracked = this.add(work).finally(() => {
      ofAccount.delete(tracked);
      if (ofAccount.size === 0) this.#byAccount.delete(account);
    });
    ofAccount.add(tracked);
  }

  /** Resolves when the account's sessions and handles that are closing now are closed. Waits for no
   *  other work: change notifications, for example, may never pause. */
  async awaitAccount(account: string): Promise<void> {
    const ofAccount = this.#byAccount.get(account);
    if (ofAccount !== undefined) await Promise.all(ofAccount);
  }

  async awaitAll(): Promise<void> {
    await Promise.all(this.#running);
  }
}
