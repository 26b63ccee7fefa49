import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";

/** Failures per address and minute. */
const failuresMax = 10;
/** Failures per minute, summed over all addresses: an attacker may use many addresses. */
const totalFailuresMax = 200;
/** Bounds memory: beyond this, the address whose last failure is oldest is forgotten. */
const addressesMax = 1000;
const windowTicks = 60n * ticksPerSecond;

/** Limits failed logins and token requests. An address with too many failures in the last minute
 *  must wait. If all addresses together have too many, every address must wait. */
export class FailureLimiter {
  /** Times of the latest failures; the address that failed last is at the end. */
  readonly #byAddress = new Map<string, readonly Ticks[]>();
  #total: readonly Ticks[] = [];

  /** Whole seconds until the next attempt is accepted; 0 if it is accepted now. */
  waitSeconds(address: string, now: Ticks): number {
    const own = waitTicks(this.#byAddress.get(address) ?? [], failuresMax, now);
    const all = waitTicks(this.#total, totalFailuresMax, now);
    const longer = own > all ? own : all;
    return Number((longer + ticksPerSecond - 1n) / ticksPerSecond);
  }

  failed(address: string, now: Ticks): void {
    const own = [...(this.#byAddress.get(address) ?? []), now].slice(-failuresMax);
    this.#byAddress.delete(address);
    this.#byAddress.set(address, own);
    this.#total = [...this.#total, now].slice(-totalFailuresMax);
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
