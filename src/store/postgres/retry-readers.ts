import type { StateReader, StateView } from "../engine.ts";
import type { QueuedTransaction } from "../queued-transaction.ts";
import { cachingReader } from "../caching-reader.ts";
import { PrefetchedState } from "./prefetched-state.ts";
import type { PrefetchResult } from "./prefetched-state.ts";
import type { Prefetcher } from "./prefetcher.ts";

export interface RerunStatesOptions {
  readonly batch: readonly QueuedTransaction[];
  readonly foreseen: Prefetcher;
  readonly open: () => Promise<StateView>;
}

/** What those of a batch read who have to run again: brought for all of them at once as far as it
 *  was foreseen, and otherwise asked for one by one. */
export class RetryReaders {
  readonly #options: RerunStatesOptions;
  #brought: Promise<PrefetchResult | undefined> | undefined;
  #whole: Promise<StateReader> | undefined;

  constructor(options: RerunStatesOptions) {
    this.#options = options;
  }

  async foreseen({ prefetch }: QueuedTransaction): Promise<PrefetchedState | undefined> {
    if (prefetch === undefined) return undefined;
    this.#brought ??= this.#bring();
    const brought = await this.#brought;
    return brought === undefined ? undefined : new PrefetchedState(brought);
  }

  whole(): Promise<StateReader> {
    this.#whole ??= this.#options.open().then(cachingReader);
    return this.#whole;
  }

  #bring(): Promise<PrefetchResult | undefined> {
    const { batch, foreseen } = this.#options;
    const all = batch.map(({ prefetch }) => prefetch).filter((each) => each !== undefined);
    return foreseen.openForAll(all);
  }
}
