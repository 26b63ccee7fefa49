import { ticksPerSecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** The database's clock in ticks, for a query to select. */
export const databaseTicks = `(extract(epoch FROM clock_timestamp()) * 10000000)::bigint
  + 621355968000000000`;

/** Two good clocks drift apart by less than a millisecond meanwhile. */
const anchorAgeMax: Ticks = 10n * ticksPerSecond;

/**
 * All nodes follow the database's clock: each carries it on with its own monotonic clock from the
 * last time it asked, which it does along with reading. That no moment comes before one that was
 * committed is seen to by `storeTime`, whatever the clocks say.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  readonly #isOwn: boolean;
  #clockOffset: Ticks = 0n;
  #anchoredAt: Ticks | undefined;

  constructor(clock: Clock, isOwn = false) {
    this.#clock = clock;
    this.#isOwn = isOwn;
    if (isOwn) this.#clockOffset = clock.wall() - clock.monotonic();
  }

  /** Database time when the monotonic clock of this node reads zero. */
  get clockOffset(): Ticks {
    return this.#clockOffset;
  }

  /** An answer to a question that was asked when the monotonic clock read `askedAt`. */
  observe(databaseTime: Ticks, askedAt: Ticks): void {
    if (this.#isOwn) return;
    const now = this.#clock.monotonic();
    if (this.#anchoredAt !== undefined && now - this.#anchoredAt < anchorAgeMax) return;
    this.#anchoredAt = now;
    this.#clockOffset = databaseTime - (askedAt + now) / 2n;
  }
}
