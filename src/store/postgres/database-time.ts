import type { Ticks } from "../../base/ticks.ts";
import { ticksPerMillisecond, ticksPerSecond } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** The time of a store in PostgreSQL, which all server nodes share: that of the database, because
 *  the clocks of machines differ. `Prefetcher` and `StatePool` measure it with their reads. */

/** SQL expression: the database's clock in ticks of 100 ns since the year 1. */
export const databaseTicks = `(extract(epoch FROM clock_timestamp()) * 10000000)::bigint
  + 621355968000000000`;

/** SQL expression, for a query of the table `state`: store time, which is the database's clock
 *  corrected by `TimeKeeper`. */
export const storeTicks = `${databaseTicks} + clock_shift`;

/** A measurement loses accuracy by one tick in this many: clocks drift by 100 parts per million. */
const driftTicks = 10_000n;
/** A difference up to one tick in this many is no jump: NTP corrects a clock by up to 500 parts per
 *  million, that of the database and that of the node. */
const slewTicks = 1_000n;
/** A smaller difference from the expected time is no jump: correcting it would cost a write each
 *  time that NTP steps a clock by little. */
const followedTicks = 10n * ticksPerMillisecond;
/** Interval in which slow measurements are considered; one faster than the last is used at once. */
const comparedTicks = ticksPerSecond;

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
 *
 * An offset that is impossible by more than clocks drift shows that the database's clock has
 * jumped, for example by a failover to a host with another clock. A node that has run for a while
 * (`keep`) does not follow the jump: leases would end early, or stay, for the time of the jump.
 * `TimeKeeper` corrects the time of the database instead, for all nodes. A node that has just
 * started follows, because it cannot know who is right.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  readonly #isOwn: boolean;
  #clockOffset: Ticks = 0n;
  #measuredAt: Ticks | undefined;
  #comparedAt: Ticks = 0n;
  /** How long the current measurement took: half of it is its error. */
  #duration: Ticks = 0n;
  #jumps = 0;
  #onJump: (() => void) | undefined;

  constructor(clock: Clock, isOwn = false) {
    this.#clock = clock;
    this.#isOwn = isOwn;
    if (isOwn) this.#clockOffset = clock.wall() - clock.monotonic();
  }

  /** Store time minus the monotonic clock of this node, as last measured. */
  get clockOffset(): Ticks {
    return this.#clockOffset;
  }

  /** How often this node has followed a jump of the database's clock; `TimeKeeper` waits for the
   *  last one. */
  get jumps(): number {
    return this.#jumps;
  }

  /** From now on this node does not follow jumps of the database's clock, but reports them. */
  keep(onJump: () => void): void {
    this.#onJump = onJump;
  }

  /** Called with the database time in the response to a query sent at `sentAt` (monotonic). */
  observe(databaseTime: Ticks, sentAt: Ticks): void {
    if (this.#isOwn) return;
    const now = this.#clock.monotonic();
    const isDue = this.#measuredAt === undefined || now - this.#comparedAt >= comparedTicks;
    if (isDue || now - sentAt < this.#duration) this.compare(databaseTime, sentAt);
  }

  /** Like `observe`, for a measurement that is always considered. Returns by how much the
   *  database's clock has jumped ahead, or back (negative); 0 if not, or if this node followed. */
  compare(databaseTime: Ticks, sentAt: Ticks): Ticks {
    const now = this.#clock.monotonic();
    const duration = now - sentAt;
    const offset = databaseTime - (sentAt + now) / 2n;
    this.#comparedAt = now;
    if (this.#isOwn) return 0n;
    if (this.#measuredAt === undefined) {
      this.#take(offset, duration, now);
      return 0n;
    }
    const age = now - this.#measuredAt;
    const jump = offset - this.#clockOffset;
    const error = (this.#duration + duration) / 2n + age / slewTicks + followedTicks;
    if (jump > error || -jump > error) {
      if (this.#onJump === undefined) this.follow(databaseTime, sentAt);
      else this.#onJump();
      return this.#onJump === undefined ? 0n : jump;
    }
    // The error of the current measurement grows with its age, because clocks drift.
    if (duration <= this.#duration + age / driftTicks) this.#take(offset, duration, now);
    else this.#clamp(databaseTime - now, databaseTime - sentAt);
    return 0n;
  }

  /** Takes this measurement whatever the earlier ones were, after a jump of the clock. */
  follow(databaseTime: Ticks, sentAt: Ticks): void {
    const now = this.#clock.monotonic();
    this.#jumps += 1;
    this.#take(databaseTime - (sentAt + now) / 2n, now - sentAt, now);
  }

  #take(offset: Ticks, duration: Ticks, now: Ticks): void {
    this.#clockOffset = offset;
    this.#duration = duration;
    this.#measuredAt = now;
  }

  #clamp(least: Ticks, most: Ticks): void {
    if (this.#clockOffset < least) this.#clockOffset = least;
    else if (this.#clockOffset > most) this.#clockOffset = most;
  }
}
