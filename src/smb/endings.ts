import type { Log } from "../base/world.ts";

/** Work that outlives the connection it belongs to. */
export class BackgroundWork {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();
  /** Sessions and handles that end, by account. */
  readonly #byAccount = new Map<string, Set<Promise<void>>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** A stopping server waits for the work. */
  add(work: Promise<void>): Promise<void> {
    const watched = work
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "a lost session could not be cleared away");
      })
      .finally(() => void this.#running.delete(watched));
    this.#running.add(watched);
    return watched;
  }

  /** The account's next login waits for the work, too. */
  addForAccount(account: string, work: Promise<void>): void {
    const ofAccount = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, ofAccount);
    const watched = this.add(work).finally(() => {
      ofAccount.delete(watched);
      if (ofAccount.size === 0) this.#byAccount.delete(account);
    });
    ofAccount.add(watched);
  }

  /** Resolves when the sessions and handles of an account that end now have ended. Other work is
   *  not waited for: as long as files change, it may never be done. */
  async awaitAccount(account: string): Promise<void> {
    const ofAccount = this.#byAccount.get(account);
    if (ofAccount !== undefined) await Promise.all(ofAccount);
  }

  async awaitAll(): Promise<void> {
    await Promise.all(this.#running);
  }
}
