import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import type { Processes } from "../../store/processes.ts";
import { StoreBusy } from "../../store/store.ts";

/** Which old states of the store are still read. A download reads its content long after its view
 *  was closed, so nothing that its state refers to may be deleted before it ends: readers pin their
 *  state, each process publishes the oldest one (its read horizon), and `space-reclaimer.ts`
 *  deletes only what became garbage before all horizons. */

/** Publishes and reads the read horizons (oldest states still read) of all processes on one
 *  store. */
export interface HorizonRegistry {
  /** Id of this process; never reused by another. */
  readonly self: string;
  /** Publishes that this process will read no state before `sequence`. */
  publish(sequence: number): Promise<void>;
  /** The horizon of every running process; 0, which keeps all, for one that has published none. */
  published(): Promise<ReadonlyMap<string, number>>;
  /** Throws `StoreUnavailable` if other server nodes have fenced this one: then they may have
   *  deleted what it has pinned. */
  assertNotFenced(): Promise<void>;
}

/** The registry for a store that only this process has open, as one in memory. */
export function soloHorizons(self: string): HorizonRegistry {
  let horizon = 0;
  return {
    self,
    async publish(sequence) {
      horizon = sequence;
    },
    published: () => Promise.resolve(new Map([[self, horizon]])),
    assertNotFenced: () => Promise.resolve(),
  };
}

/** The registry for processes that share a store: each publishes its horizon in the list of
 *  processes. */
export function sharedHorizons(processes: Processes): HorizonRegistry {
  return {
    self: processes.self,
    publish: (sequence) => processes.publish({ contentPromise: sequence }),
    async published() {
      const live = await processes.live();
      return new Map(live.map(({ id, fields }) => [id, Number(fields["contentPromise"] ?? 0)]));
    },
    assertNotFenced: () => processes.assertNotFenced(),
  };
}

/** Content cannot be opened in a view that is older than this. Views usually exist for
 *  milliseconds, so 5 s delay garbage collection little and reject no request in practice. */
const viewAgeMax: Ticks = 5n * ticksPerSecond;
/** The same on a full disk: what was deleted is freed earlier then. */
const viewAgeMaxOnFullDisk: Ticks = ticksPerSecond;
/** How many times per `viewAgeMax` the newest sequence is recorded, to know later which state was
 *  the newest at that time. */
const readingsMax = 16n;

/** The pinned states of this process. The horizon never passes the oldest pin and lags the newest
 *  state by `viewAgeMax`, so that an open view can still pin its state. A pin below the horizon is
 *  rejected, so a clock that jumps can fail a request, but never lose bytes in use. */
export class PinTracker {
  readonly #clock: Clock;
  readonly #viewAgeMax: Ticks;
  readonly #pinned = new Map<number, number>();
  readonly #readings: { readonly sequence: number; readonly at: Ticks }[] = [];
  #published = 0;

  constructor(clock: Clock, viewAge: Ticks = viewAgeMax) {
    this.#clock = clock;
    this.#viewAgeMax = viewAge;
  }

  pin(sequence: number): () => void {
    if (sequence < this.#published)
      throw new StoreBusy("the view is too old to open content in it");
    this.#pinned.set(sequence, (this.#pinned.get(sequence) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#pinned.get(sequence) ?? 1) - 1;
      if (left === 0) this.#pinned.delete(sequence);
      else this.#pinned.set(sequence, left);
    };
  }

  /** Returns the read horizon, before which this process reads no state; `sequence` is the
   *  newest. */
  horizon(sequence: number, isDiskFull = false): number {
    const now = this.#clock.monotonic();
    const last = this.#readings.at(-1);
    const spacing = this.#viewAgeMax / readingsMax;
    const age =
      isDiskFull && viewAgeMaxOnFullDisk < this.#viewAgeMax
        ? viewAgeMaxOnFullDisk
        : this.#viewAgeMax;
    if (last === undefined || now - last.at >= spacing) this.#readings.push({ sequence, at: now });
    const old = this.#readings.findLastIndex(({ at }) => at + age <= now);
    const expired = this.#readings[old]?.sequence ?? 0;
    this.#readings.splice(0, old);
    let lowest = expired;
    for (const pinned of this.#pinned.keys()) lowest = Math.min(lowest, pinned);
    this.#published = Math.max(this.#published, lowest);
    return this.#published;
  }
}
