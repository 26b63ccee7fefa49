import type { ServerResponse } from "node:http";
import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ObservedRequest } from "../../http/observer.ts";
import type { Viewed } from "../admin-context.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";
import { mistakeInQuery, optional } from "../inputs.ts";
import type { AdmittedRequest } from "../request.ts";
import type { RawRoute } from "../routes.ts";
import type { Health } from "../views/health.ts";
import { TimedEvents, type TimedEvent } from "./timed-events.ts";
import { Ring } from "./ring.ts";
import { feedEventsOf, type FeedEvent } from "./feed-event.ts";
import { renderFeedEvent } from "./render-feed-event.ts";
import { eventText, feedKindsCheck, parseKinds, Subscriber, type FeedKind } from "./subscriber.ts";

const watchersMax = 32;
const remembered = 4096;
const waitingMax = 1000;
const flushMilliseconds = 100;
const tickMilliseconds = 1000;
const ticksPerHeartbeat = 15;

/** Tells those who watch what happens. While nobody does, no request is looked at. */
export class Feed {
  readonly ring = new Ring<FeedEvent>(remembered);
  /** Since when requests have been looked at; undefined if they never were. */
  watchedSince: Ticks | undefined;
  readonly #viewed: Viewed;
  readonly #health: Health;
  readonly #passing: TimedEvents;
  readonly #watchers = new Set<Subscriber>();
  #waiting: FeedEvent[] = [];
  #overflow = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelTick = (): void => {};
  #ticks = 0;
  /** Counts the times that watching began: what is left of an earlier one must not go on. */
  #turn = 0;

  constructor(viewed: Viewed, health: Health) {
    this.#viewed = viewed;
    this.#health = health;
    this.#passing = new TimedEvents(viewed);
  }

  route(): RawRoute {
    return {
      method: "GET",
      path: "/admin/v1/feed",
      access: "account",
      serve: ({ request, response }) => this.#open(request, response),
    };
  }

  #open(request: AdmittedRequest, response: ServerResponse): AdminResponse | undefined {
    const { query, grant, isValid, administers } = request;
    const wrong = mistakeInQuery(query, { kinds: optional(feedKindsCheck) });
    if (wrong !== undefined) return refuse(400, "InvalidInput", wrong);
    const kinds = parseKinds(query.get("kinds")) ?? new Set();
    if (kinds.has("health") && grant.kind !== "server") {
      return refuse(403, "AdminTokenRequired", "health needs the admin token: leave it out");
    }
    if (this.#watchers.size >= watchersMax) {
      return refuse(503, "TooManyWatchers", `${watchersMax} watch already`);
    }
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
    const watcher = new Subscriber(response, { kinds, administers, isValid });
    response.on("close", () => this.#leave(watcher));
    const now = formatIso(this.#viewed.clock.wall());
    watcher.send(eventText("hello", { now, kinds: [...kinds] }));
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#begin();
    return undefined;
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#rest();
  }

  #begin(): void {
    const { clock, observer } = this.#viewed;
    this.watchedSince = clock.wall();
    this.#passing.restart();
    observer.watch = this.#observe;
    this.#turn += 1;
    void this.#tick(this.#turn);
  }

  #leave(watcher: Subscriber): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#rest();
  }

  #rest(): void {
    this.#viewed.observer.watch = undefined;
    this.#cancelTick();
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#waiting = [];
  }

  readonly #observe = (observed: ObservedRequest): void => {
    this.#apart(() => feedEventsOf(observed, this.#take));
  };

  /** Whoever is watched must not suffer from it. */
  #apart(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#viewed.log.error({ err: error }, "a request could not be told of");
    }
  }

  readonly #take = (seen: FeedEvent): void => {
    this.ring.push(seen);
    if (this.#waiting.length >= waitingMax) this.#overflow += 1;
    else this.#waiting.push(seen);
    const flush = (): void => this.#apart(() => this.#flush());
    this.#cancelFlush ??= this.#viewed.clock.after(flushMilliseconds, flush);
  };

  #flush(): void {
    this.#cancelFlush = undefined;
    const waiting = this.#waiting;
    const missed = this.#overflow;
    this.#waiting = [];
    this.#overflow = 0;
    const { clock, doors } = this.#viewed;
    const now = clock.monotonic();
    // Made for the first who gets to read them; most of a flood is never put into words.
    const texts: string[] = [];
    for (const watcher of this.#watchers) {
      let text = "";
      for (const [index, seen] of waiting.entries()) {
        if (!watcher.admits(seen.kind, seen.account, now)) continue;
        texts[index] ??= eventText(seen.kind, renderFeedEvent(doors, seen));
        text += texts[index];
      }
      watcher.miss(missed);
      this.#send(watcher, text);
    }
  }

  async #tick(turn: number): Promise<void> {
    this.#ticks += 1;
    this.#dismissInvalid();
    try {
      await this.#lookAround();
    } catch (error) {
      this.#viewed.log.warn({ err: error }, "the feed could not look around");
    }
    if (this.#watchers.size === 0 || turn !== this.#turn) return;
    const { clock } = this.#viewed;
    this.#cancelTick = clock.after(tickMilliseconds, () => void this.#tick(turn));
  }

  /** A login that has ended takes its streams with it. */
  #dismissInvalid(): void {
    for (const watcher of this.#watchers) {
      if (watcher.isValid()) continue;
      watcher.end();
      this.#leave(watcher);
    }
  }

  async #lookAround(): Promise<void> {
    if (this.#wants("lease") || this.#wants("message")) {
      for (const passed of await this.#passing.look()) this.#tell(passed);
    }
    if (this.#wants("health")) {
      this.#tell({ kind: "health", account: "", data: await this.#health.look() });
    }
    if (this.#ticks % ticksPerHeartbeat !== 0) return;
    for (const watcher of this.#watchers) this.#send(watcher, ":\n\n");
  }

  #wants(kind: FeedKind): boolean {
    return [...this.#watchers].some(({ kinds }) => kinds.has(kind));
  }

  #tell({ kind, account, data }: TimedEvent): void {
    const text = eventText(kind, data);
    const now = this.#viewed.clock.monotonic();
    for (const watcher of this.#watchers) {
      if (watcher.admits(kind, account, now)) this.#send(watcher, text);
    }
  }

  #send(watcher: Subscriber, text: string): void {
    if (watcher.send(text)) return;
    watcher.cut();
    this.#leave(watcher);
  }
}
