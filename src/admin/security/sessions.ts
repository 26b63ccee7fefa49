import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../core/ticks.ts";
import type { Clock, Random } from "../../core/world.ts";

export interface Session {
  readonly value: string;
  readonly expires: Ticks;
}

const secretBytes = 32;
const nonceBytes = 12;
const idleTicks = 30n * 60n * ticksPerSecond;
/** However busy it is, after this long somebody has to prove again who they are. */
const lifeTicks = 12n * 3600n * ticksPerSecond;
/** A session is renewed when this much of it is used up, not with every request. */
const renewalTicks = 5n * 60n * ticksPerSecond;
const form = /^([0-9a-f]{1,16})\.([0-9a-f]{1,16})\.([0-9a-f]{24})\.([0-9a-f]{64})$/;

/** Signed statements that somebody has logged in. Nothing is kept here but the key, which is new
 *  with every start. */
export class Sessions {
  readonly #key: KeyObject;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#key = createSecretKey(random.bytes(secretBytes));
  }

  begin(): Session {
    const now = this.#clock.wall();
    return this.#issue(now, now);
  }

  /** The session behind a cookie's value, with a new value if it is time for one. */
  check(
    value: string | undefined,
  ): { readonly session: Session; readonly isNew: boolean } | undefined {
    const match = form.exec(value ?? "");
    if (match === null || value === undefined) return undefined;
    const [, began = "", expires = "", nonce = "", signature = ""] = match;
    const expected = this.#sign(`${began}.${expires}.${nonce}`);
    const given = Buffer.from(signature, "hex");
    if (!timingSafeEqual(given, expected)) return undefined;
    const now = this.#clock.wall();
    const end = BigInt(`0x${expires}`);
    if (now >= end) return undefined;
    const isRenewed = end - now < idleTicks - renewalTicks;
    const start = BigInt(`0x${began}`);
    if (!isRenewed || now >= start + lifeTicks) {
      return { session: { value, expires: end }, isNew: false };
    }
    return { session: this.#issue(start, now), isNew: true };
  }

  #issue(began: Ticks, now: Ticks): Session {
    const idle = now + idleTicks;
    const expires = idle < began + lifeTicks ? idle : began + lifeTicks;
    const nonce = Buffer.from(this.#random.bytes(nonceBytes)).toString("hex");
    const text = `${began.toString(16)}.${expires.toString(16)}.${nonce}`;
    return { value: `${text}.${this.#sign(text).toString("hex")}`, expires };
  }

  #sign(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}
