import type { ServerResponse } from "node:http";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { eventText } from "../admin-response.ts";
import { formatValue, type Check } from "../inputs.ts";
import type { ResourceName } from "../security/grant.ts";
import { isSameObject, type WatchedObject } from "./feed-event.ts";

/** One open stream of the request feed, the events that the explorer shows live. */

/** The kinds of events, among which a client selects (`parseKinds`). */
export const feedKinds = ["refused", "lease", "message", "change", "read", "health"] as const;
export type FeedKind = (typeof feedKinds)[number];

/** Limit of the events that one stream gets; further ones count as missed. */
const eventsPerSecondMax = 200;
/** Bounds memory: a client that leaves more bytes unread is disconnected. */
const unsentBytesMax = 1024 * 1024;

interface SubscriberOptions {
  readonly kinds: ReadonlySet<FeedKind>;
  /** Whether the caller may see the events of a resource. */
  readonly sees: (resource: ResourceName) => boolean;
  /** The only object whose events are sent; undefined: all that the caller may see. */
  readonly object?: WatchedObject | undefined;
  readonly isValid: () => boolean;
}

/** One open stream of the request feed: it selects the events that its caller has asked for and may
 *  see, and limits how many it sends, so that a slow page delays no request. */
export class Subscriber {
  readonly kinds: ReadonlySet<FeedKind>;
  readonly isValid: () => boolean;
  readonly object: WatchedObject | undefined;
  readonly #sees: (resource: ResourceName) => boolean;
  readonly #response: ServerResponse;
  #secondBegan: Ticks = 0n;
  #sentInSecond = 0;
  #missed = 0;

  constructor(response: ServerResponse, { kinds, sees, isValid, object }: SubscriberOptions) {
    this.#response = response;
    this.kinds = kinds;
    this.object = object;
    this.#sees = sees;
    this.isValid = isValid;
  }

  /** Whether an event is sent to this subscriber: its kind and resource are wanted, and the limit
   *  per second is not reached. Beyond the limit the event counts as missed. */
  admits(kind: FeedKind, about: WatchedObject | undefined, now: Ticks): boolean {
    if (!this.kinds.has(kind) || !this.#wants(about)) return false;
    if (now - this.#secondBegan >= ticksPerSecond) {
      this.#secondBegan = now;
      this.#sentInSecond = 0;
    }
    if (this.#sentInSecond >= eventsPerSecondMax) {
      this.#missed += 1;
      return false;
    }
    this.#sentInSecond += 1;
    return true;
  }

  /** Whether this stream gets events about an object. Events about none are those of the server
   *  (`health`), which only the admin token can request. */
  #wants(about: WatchedObject | undefined): boolean {
    if (about === undefined) return true;
    if (this.object !== undefined && !isSameObject(this.object, about)) return false;
    return this.#sees({ service: about.service, account: about.account, name: about.place.name });
  }

  miss(count: number): void {
    this.#missed += count;
  }

  /** Sends events and the number of missed ones; false if the client reads too slowly. */
  send(text: string): boolean {
    const missed = this.#missed;
    this.#missed = 0;
    const sent = missed === 0 ? text : text + eventText("missed", { count: missed });
    if (sent !== "") this.#response.write(sent);
    return this.#response.writableLength <= unsentBytesMax;
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}

export const feedKindsCheck: Check = (value) => {
  const isKnown = typeof value === "string" && parseKinds(value) !== undefined;
  return isKnown ? undefined : `must be any of ${feedKinds.join(",")}, not ${formatValue(value)}`;
};

/** The kinds that the query parameter `kinds` names, separated by commas. Without it rejected
 *  requests, leases and messages; undefined if a kind is unknown. */
export function parseKinds(text: string | null): ReadonlySet<FeedKind> | undefined {
  if (text === null || text === "") return new Set(["refused", "lease", "message"]);
  const wanted = text.split(",");
  const known = feedKinds.filter((kind) => wanted.includes(kind));
  return known.length === wanted.length ? new Set(known) : undefined;
}
