import type { StateReader, StateView } from "../engine.ts";
import type { QueuedTransaction } from "../queued-transaction.ts";
import { cachingReader } from "../caching-reader.ts";
import { PrefetchedState } from "./prefetched-state.ts";
import type { PrefetchResult } from "./prefetched-state.ts";
import type { Prefetcher } from "./prefetcher.ts";

export interface RetryReadersOptions {
  readonly batch: readonly QueuedTransaction[];
  readonly prefetcher: Prefetcher;
  readonly open: () => Promise<StateView>;
}

/** Readers for the retries of a batch. The predicted reads of all its transactions are fetched at
 *  once; other reads go to a full state. */
export class RetryReaders {
  readonly #options: RetryReadersOptions;
  #prefetched: Promise<PrefetchResult | undefined> | undefined;
  #full: Promise<StateReader> | undefined;

  constructor(options: RetryReadersOptions) {
    this.#options = options;
  }

  async prefetchedReader({ prefetch }: QueuedTransaction): Promise<PrefetchedState | undefined> {
    if (prefetch === undefined) return undefined;
    this.#prefetched ??= this.#prefetch();
    const prefetched = await this.#prefetched;
    return prefetched === undefined ? undefined : new PrefetchedState(prefetched);
  }

  fullReader(): Promise<StateReader> {
    this.#full ??= this.#options.open().then(cachingReader);
    return this.#full;
  }

  #prefetch(): Promise<PrefetchResult | undefined> {
    const { batch, prefetcher } = this.#options;
    const works = batch.map(({ prefetch }) => prefetch).filter((each) => each !== undefined);
    return prefetcher.openForAll(works);
  }
}
