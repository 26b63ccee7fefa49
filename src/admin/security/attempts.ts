import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";

/** From one address, in a minute. */
const failuresMax = 10;
/** From all of them together: a guesser may have many. */
const failuresOfAllMax = 200;
const addressesMax = 1000;
const windowTicks = 60n * ticksPerSecond;

/** Counts failed logins. Whoever guesses has to wait, and does not make others wait with them. */
export class Attempts {
  /** The moments of the latest failures, those of the address that failed last at the end. */
  readonly #byAddress = new Map<string, readonly Ticks[]>();
  #ofAll: readonly Ticks[] = [];

  /** Whole seconds until the next attempt is looked at; 0 if it is now. */
  waitSeconds(address: string, now: Ticks): number {
    const own = waitTicks(this.#byAddress.get(address) ?? [], failuresMax, now);
    const all = waitTicks(this.#ofAll, failuresOfAllMax, now);
    const longer = own > all ? own : all;
    return Number((longer + ticksPerSecond - 1n) / ticksPerSecond);
  }

  failed(address: string, now: Ticks): void {
    const own = [...(this.#byAddress.get(address) ?? []), now].slice(-failuresMax);
    this.#byAddress.delete(address);
    this.#byAddress.set(address, own);
    this.#ofAll = [...this.#ofAll, now].slice(-failuresOfAllMax);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > addressesMax && oldest !== undefined) this.#byAddress.delete(oldest);
  }
}

function waitTicks(failures: readonly Ticks[], countMax: number, now: Ticks): Ticks {
  const [oldest] = failures;
  if (oldest === undefined || failures.length < countMax) return 0n;
  const left = oldest + windowTicks - now;
  return left > 0n ? left : 0n;
}
