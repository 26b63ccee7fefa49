import { createHash } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import type { Grant } from "./grant.ts";

/** A login that has not ended. */
export interface Session {
  readonly grant: Grant;
  /** The account key that it was opened with; undefined for a grant over the server. */
  readonly key: string | undefined;
  readonly began: Ticks;
  /** After this moment without a request it has ended. */
  readonly expires: Ticks;
}

const secretBytes = 32;
const idleTicks = 30n * 60n * ticksPerSecond;
/** A session ends after this long, however often it is used. */
const lifeTicks = 12n * 3600n * ticksPerSecond;
/** Beyond it the session that began first ends. */
const sessionsMax = 1000;
const form = /^[0-9a-f]{64}$/;

/** The logins of this process. They are kept here and not in the cookie, so that a logout ends
 *  every copy of it; a restart ends them all. */
export class Sessions {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By the digest of the cookie's value, so that the time of a lookup says nothing about it. */
  readonly #byDigest = new Map<string, Session>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The value of the cookie for a new session. */
  begin({ grant, key }: Pick<Session, "grant" | "key">): string {
    const value = Buffer.from(this.#random.bytes(secretBytes)).toString("hex");
    const began = this.#clock.wall();
    this.#byDigest.set(digestOf(value), { grant, key, began, expires: began + idleTicks });
    const [oldest] = this.#byDigest.keys();
    if (this.#byDigest.size > sessionsMax && oldest !== undefined) this.#byDigest.delete(oldest);
    return value;
  }

  /** The session behind a cookie's value, which is not a use of it. */
  peek(value: string | undefined): Session | undefined {
    if (value === undefined || !form.test(value)) return undefined;
    const digest = digestOf(value);
    const session = this.#byDigest.get(digest);
    if (session === undefined || this.#clock.wall() < session.expires) return session;
    this.#byDigest.delete(digest);
    return undefined;
  }

  /** As `peek`, and it lasts longer for it. */
  use(value: string | undefined): Session | undefined {
    const session = this.peek(value);
    if (session === undefined || value === undefined) return undefined;
    const idleEnd = this.#clock.wall() + idleTicks;
    const lifeEnd = session.began + lifeTicks;
    const renewed = { ...session, expires: idleEnd < lifeEnd ? idleEnd : lifeEnd };
    this.#byDigest.set(digestOf(value), renewed);
    return renewed;
  }

  end(value: string | undefined): void {
    if (value !== undefined) this.#byDigest.delete(digestOf(value));
  }
}

function digestOf(value: string): string {
  return createHash("sha256").update(value, "utf8").digest("hex");
}
