import { ticksPerSecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** SQL expression: the database's clock in ticks. */
export const databaseTicks = `(extract(epoch FROM clock_timestamp()) * 10000000)::bigint
  + 621355968000000000`;

/** The offset is measured again after 10 s; good clocks drift apart by less than 1 ms in that
 *  time. */
const anchorAgeMax: Ticks = 10n * ticksPerSecond;

/** Store time of all nodes: the database's clock, which each node extrapolates with its own
 *  monotonic clock and measures again along with its reads. `storeTime` ensures that no time
 *  precedes a committed one, even if clocks are wrong. */
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

  /** Database time minus the monotonic clock of this node. */
  get clockOffset(): Ticks {
    return this.#clockOffset;
  }

  /** Takes the database time of a query that was sent when the monotonic clock read `sentAt`. */
  observe(databaseTime: Ticks, sentAt: Ticks): void {
    if (this.#isOwn) return;
    const now = this.#clock.monotonic();
    if (this.#anchoredAt !== undefined && now - this.#anchoredAt < anchorAgeMax) return;
    this.#anchoredAt = now;
    this.#clockOffset = databaseTime - (sentAt + now) / 2n;
  }
}
