import { createHash } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import type { Grant } from "./grant.ts";

/** A login that has not ended. */
export interface Session {
  readonly grant: Grant;
  /** The account key of the login; undefined for a grant over the whole server. */
  readonly key: string | undefined;
  readonly began: Ticks;
  /** Without another request the session ends at this time. */
  readonly expires: Ticks;
}

const secretBytes = 32;
const idleTicks = 30n * 60n * ticksPerSecond;
/** Longest duration of a session, however often it is used. */
const lifeTicks = 12n * 3600n * ticksPerSecond;
/** Open sessions; beyond this number the oldest ends. */
const sessionsMax = 1000;
const form = /^[0-9a-f]{64}$/;

/** The logins of this process, stored here and not in the cookie: a logout ends every copy of the
 *  cookie, and a restart ends all sessions. */
export class Sessions {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By digest of the cookie value, so that lookup times reveal nothing about the value. */
  readonly #byDigest = new Map<string, Session>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Opens a session and returns its cookie value. */
  begin({ grant, key }: Pick<Session, "grant" | "key">): string {
    const value = Buffer.from(this.#random.bytes(secretBytes)).toString("hex");
    const began = this.#clock.wall();
    this.#byDigest.set(digestOf(value), { grant, key, began, expires: began + idleTicks });
    const [oldest] = this.#byDigest.keys();
    if (this.#byDigest.size > sessionsMax && oldest !== undefined) this.#byDigest.delete(oldest);
    return value;
  }

  /** The session of a cookie value, without extending it. */
  peek(value: string | undefined): Session | undefined {
    if (value === undefined || !form.test(value)) return undefined;
    const digest = digestOf(value);
    const session = this.#byDigest.get(digest);
    if (session === undefined || this.#clock.wall() < session.expires) return session;
    this.#byDigest.delete(digest);
    return undefined;
  }

  /** The session of a cookie value; the use extends it. */
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
