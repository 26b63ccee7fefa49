import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** The time of a store in PostgreSQL, which all server nodes share: that of the database, because
 *  the clocks of machines differ. `Prefetcher` and `StatePool` measure it with their reads. */

/** SQL expression: the database's clock in ticks. */
export const databaseTicks = `(extract(epoch FROM clock_timestamp()) * 10000000)::bigint
  + 621355968000000000`;

/** A clock is assumed to drift by at most one tick in this many: 100 parts per million. */
const driftTicks = 10_000n;
/** A measurement that is slower than the current one is considered only every 10 s, in which good
 *  clocks drift apart by less than 1 ms. A faster one is used at once. */
const comparedTicks = 10n * ticksPerSecond;

/**
 * Store time of all nodes: the database's clock, which each node extrapolates with its own
 * monotonic clock and measures along with its reads. `storeTime` ensures that no time precedes a
 * committed one, even if clocks are wrong.
 *
 * The database read its clock between the moments when the query was sent and when its response
 * arrived. Half of that time is the error of a measurement. A slow one, because the network or the
 * database was paused, therefore does not replace a quick one: leases of nodes that measured at
 * different moments would end early by seconds. A slow measurement only corrects an offset that it
 * shows to be impossible.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  readonly #isOwn: boolean;
  #clockOffset: Ticks = 0n;
  #measuredAt: Ticks | undefined;
  #comparedAt: Ticks = 0n;
  /** How long the measurement took. */
  #duration: Ticks = 0n;

  constructor(clock: Clock, isOwn = false) {
    this.#clock = clock;
    this.#isOwn = isOwn;
    if (isOwn) this.#clockOffset = clock.wall() - clock.monotonic();
  }

  /** Database time minus the monotonic clock of this node. */
  get clockOffset(): Ticks {
    return this.#clockOffset;
  }

  /** Takes the database time of a query that was sent when the monotonic clock read `sentAt`. */
  observe(databaseTime: Ticks, sentAt: Ticks): void {
    if (this.#isOwn) return;
    const now = this.#clock.monotonic();
    const duration = now - sentAt;
    const isDue = this.#measuredAt === undefined || now - this.#comparedAt >= comparedTicks;
    if (!isDue && duration >= this.#duration) return;
    this.#comparedAt = now;
    if (this.#measuredAt === undefined || duration <= this.#durationToBeat(now, this.#measuredAt)) {
      this.#measuredAt = now;
      this.#duration = duration;
      this.#clockOffset = databaseTime - (sentAt + now) / 2n;
      return;
    }
    const [least, most] = [databaseTime - now, databaseTime - sentAt];
    if (this.#clockOffset < least) this.#clockOffset = least;
    else if (this.#clockOffset > most) this.#clockOffset = most;
  }

  /** The longest duration of a measurement that is more exact than the present one, whose error
   *  grows with its age. */
  #durationToBeat(now: Ticks, measuredAt: Ticks): Ticks {
    return this.#duration + (now - measuredAt) / driftTicks;
  }
}
