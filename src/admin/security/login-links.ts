import { createHash } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";

const tokenBytes = 32;
const lifeTicks = 3600n * ticksPerSecond;
/** Valid links; beyond this number the oldest becomes invalid. */
const linksMax = 16;

/** One-time tokens in links that open the explorer. */
export class LoginLinks {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Expiry by digest of the token. */
  readonly #ends = new Map<string, Ticks>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  issue(): string {
    const token = Buffer.from(this.#random.bytes(tokenBytes)).toString("hex");
    this.#ends.set(digestOf(token), this.#clock.monotonic() + lifeTicks);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > linksMax && oldest !== undefined) this.#ends.delete(oldest);
    return token;
  }

  /** Uses up a token; returns whether it was valid. */
  redeem(token: string): boolean {
    const digest = digestOf(token);
    const end = this.#ends.get(digest);
    this.#ends.delete(digest);
    return end !== undefined && this.#clock.monotonic() < end;
  }
}

function digestOf(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}
