import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";

/** Evens out the load of worker processes (`--workers`): `run-worker.ts` reports it,
 *  `supervisor.ts` decides. */

/** The period in which a worker measures and reports its load. */
export const loadMilliseconds = 500;
/** Load from which a worker may close connections. With less, its clients would gain little by
 *  another worker. */
const busyLoad = 0.8;
/** Load above the average from which a worker closes connections: a smaller difference is not worth
 *  new connections. */
const excessMin = 0.1;
/** Periods between two corrections: after them, all reports contain the effect of the last one. */
const effectPeriods = 2;

/** Decides, in the supervisor, which worker closes how many connections. The kernel gives a new
 *  connection to any worker that accepts it, so that clients with few connections, which they keep,
 *  may all be served by one. A worker whose load is above the average closes a part of its active
 *  connections after their next response. The clients connect again, and a worker that is less busy
 *  accepts them. */
export class LoadBalance<Worker> {
  readonly #clock: Clock;
  readonly #loads = new Map<Worker, number>();
  #nextCorrection: Ticks = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called with each report of a worker. `load` is the share of the last period in which its main
   *  thread was busy, from 0 to 1. Returns the share of its active connections that the worker must
   *  close. */
  report(worker: Worker, load: number, workers: readonly Worker[]): number {
    this.#loads.set(worker, load);
    for (const known of this.#loads.keys()) if (!workers.includes(known)) this.#loads.delete(known);
    const now = this.#clock.monotonic();
    if (this.#loads.size < workers.length || now < this.#nextCorrection) return 0;
    let sum = 0;
    for (const each of this.#loads.values()) sum += each;
    const average = sum / workers.length;
    if (load < busyLoad || load - average < excessMin) return 0;
    this.#nextCorrection = now + BigInt(effectPeriods * loadMilliseconds) * ticksPerMillisecond;
    return (load - average) / load;
  }
}
