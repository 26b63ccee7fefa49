/** Groups the flushes of one extent: one runs at a time, and calls made meanwhile share the next
 *  one. After a failed flush the kernel may have dropped the unwritten pages and cleared the error,
 *  so all later flushes of the extent fail as well. */
export class Syncer {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when everything written before the call is flushed. */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#run().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #run(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      await this.#flush();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
