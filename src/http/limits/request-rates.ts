import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

interface Bucket {
  /** Requests that are admitted at once; a fraction between refills. */
  tokens: number;
  refilledAt: Ticks;
}

/** Most accounts with a bucket. When there are more, all buckets are forgotten, that is filled. */
const bucketsMax = 16_384;

/** Limits the requests of each account with a token bucket: `perSecond` requests at once, then as
 *  many per second. Accounts without a limit are never looked up here. */
export class RequestRates {
  readonly #buckets = new Map<string, Bucket>();
  readonly #clock: Clock;
  readonly #processes: number;

  /** `processes`: the processes that serve the same ports. Each admits an equal part. */
  constructor(clock: Clock, processes = 1) {
    this.#clock = clock;
    this.#processes = processes;
  }

  /** Whether another request of the account is within its limit. */
  admits(account: string, perSecond: number): boolean {
    const own = Math.max(1, perSecond / this.#processes);
    const now = this.#clock.monotonic();
    const bucket = this.#bucketOf(account, own, now);
    const seconds = Number(now - bucket.refilledAt) / Number(ticksPerSecond);
    bucket.tokens = Math.min(own, bucket.tokens + seconds * own);
    bucket.refilledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #bucketOf(account: string, tokens: number, now: Ticks): Bucket {
    const existing = this.#buckets.get(account);
    if (existing !== undefined) return existing;
    if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
    const created = { tokens, refilledAt: now };
    this.#buckets.set(account, created);
    return created;
  }
}
