import type { Ticks } from "../base/ticks.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Processes } from "../store/processes.ts";
import { StoreBusy } from "../store/store.ts";

/** What the processes on one store tell each other about what they are still looking at. */
export interface HorizonRegistry {
  /** Names this process; never used again by another. */
  readonly self: string;
  /** Promises that this process will look at no state before `sequence`. */
  publish(sequence: number): Promise<void>;
  /** The last promise of every live process; zero for one that has made none yet. */
  published(): Promise<ReadonlyMap<string, number>>;
}

/** For a store that only this process has open. */
export function soloPins(self: string): HorizonRegistry {
  let promised = 0;
  return {
    self,
    async publish(sequence) {
      promised = sequence;
    },
    published: () => Promise.resolve(new Map([[self, promised]])),
  };
}

/** For processes that share a store: each publishes its promise in the list of processes. */
export function sharedHorizons(processes: Processes): HorizonRegistry {
  return {
    self: processes.self,
    publish: (sequence) => processes.publish({ contentPromise: sequence }),
    async published() {
      const live = await processes.live();
      return new Map(live.map(({ id, fields }) => [id, Number(fields["contentPromise"] ?? 0)]));
    },
  };
}

/** Views live for milliseconds; this much later nobody opens a content in one. */
export const viewAgeMax: Ticks = 5n * ticksPerSecond;
/** A reading every fraction of that time is enough. */
const readingsMax = 16n;

/**
 * The states that readers of this process hold on to. A promise never reaches beyond the oldest
 * pin, nor to states so young that a view of an earlier one may still come to pin it. A view that
 * comes too late all the same is refused, so the promise holds whatever the clock does.
 */
export class PinTracker {
  readonly #clock: Clock;
  readonly #viewAgeMax: Ticks;
  readonly #pinned = new Map<number, number>();
  readonly #readings: { readonly sequence: number; readonly at: Ticks }[] = [];
  #promised = 0;

  constructor(clock: Clock, viewAge: Ticks = viewAgeMax) {
    this.#clock = clock;
    this.#viewAgeMax = viewAge;
  }

  pin(sequence: number): () => void {
    if (sequence < this.#promised) throw new StoreBusy("the view is too old to open a content in");
    this.#pinned.set(sequence, (this.#pinned.get(sequence) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#pinned.get(sequence) ?? 1) - 1;
      if (left === 0) this.#pinned.delete(sequence);
      else this.#pinned.set(sequence, left);
    };
  }

  /** What may be promised, given that the newest state is `sequence`. */
  horizon(sequence: number): number {
    const now = this.#clock.monotonic();
    const last = this.#readings.at(-1);
    const spacing = this.#viewAgeMax / readingsMax;
    if (last === undefined || now - last.at >= spacing) this.#readings.push({ sequence, at: now });
    const old = this.#readings.findLastIndex(({ at }) => at + this.#viewAgeMax <= now);
    const settled = this.#readings[old]?.sequence ?? 0;
    this.#readings.splice(0, old);
    let lowest = settled;
    for (const pinned of this.#pinned.keys()) lowest = Math.min(lowest, pinned);
    this.#promised = Math.max(this.#promised, lowest);
    return this.#promised;
  }
}
