import type { ServerResponse } from "node:http";
import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { FileChange } from "../../file/file-change.ts";
import type { ObservedRequest } from "../../http/http-service.ts";
import type { ReceiveEvents, ViewContext } from "../admin-context.ts";
import { beginEventStream, eventText, refuse, type AdminResponse } from "../admin-response.ts";
import { findQueryError, optional } from "../inputs.ts";
import type { AuthenticatedRequest } from "../request.ts";
import type { RawRoute } from "../routes.ts";
import type { Health } from "../views/health.ts";
import { currentWaits, waitFacts, type WaitFact } from "../views/waits.ts";
import { TimedEvents, type TimedEvent } from "./timed-events.ts";
import {
  feedEventsOf,
  fileChangeEvent,
  objectKey,
  WatchedObjects,
  Ring,
  SpanHistory,
  type FeedEvent,
  type WatchedObject,
} from "./feed-event.ts";
import { holdsNow, type Hold } from "./holds.ts";
import { renderFeedEvent } from "./render-feed-event.ts";
import { objectChecks, objectTargetOf } from "../views/object-target.ts";
import { feedKindsCheck, parseKinds, Subscriber, type FeedKind } from "./subscriber.ts";
import { readRecords } from "../views/pages.ts";

/** The request feed, `/admin/v1/feed`: server-sent events about requests, leases and messages,
 *  which the explorer shows live. It keeps a limited number of events in memory and drops others;
 *  the complete event log has a stream of its own (`admin/views/event-stream.ts`). */

/** Open streams; a further one is rejected with 503. */
const subscribersMax = 32;
/** Recent events kept in memory, for timelines that are opened later. */
const eventsKeptMax = 4096;
/** Reads that timelines can show, apart from other events, which the many reads would replace. */
const readsKeptMax = 1024;
/** Events that wait until they are sent, every 100 ms; further ones count as missed. */
const queuedEventsMax = 1000;
const flushMilliseconds = 100;
/** While there are subscribers: the interval of samples and of the checks of their logins. */
const tickMilliseconds = 1000;
/** A stream gets a comment every 15 s, so that proxies do not close it as idle. */
const ticksPerHeartbeat = 15;

interface StreamOptions {
  readonly kinds: ReadonlySet<FeedKind>;
  readonly object: WatchedObject | undefined;
}

/** Records requests and sends them to subscribers (open streams). The requests of this process are
 *  always recorded, so that a timeline shows what happened before its page was opened. The requests
 *  of other workers, and what clients hold and wait for, are recorded while there are subscribers:
 *  both cost work for each request or second. */
export class Feed {
  readonly events = new Ring<FeedEvent>(eventsKeptMax);
  readonly reads = new Ring<FeedEvent>(readsKeptMax);
  /** What clients held (leases, opens, locks, messages), and for what they waited; sampled once a
   *  second while there are subscribers. */
  readonly holds = new SpanHistory<Hold>();
  readonly waits = new SpanHistory<WaitFact>();
  /** Rejected requests since the start of the server, counted by the rule that rejected each. */
  readonly refusalsByRule = new Map<string, number>();
  /** Time of the first request that the feed has recorded. */
  readonly recordedSince: Ticks;
  readonly #context: ViewContext;
  readonly #health: Health;
  readonly #timedEvents: TimedEvents;
  readonly #subscribers = new Set<Subscriber>();
  readonly #watched = new WatchedObjects();
  #queuedEvents: FeedEvent[] = [];
  #overflow = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelTick = (): void => {};
  #ticks = 0;
  /** Number of the current period with subscribers. A timer of an earlier period finds another
   *  number and stops. */
  #runId = 0;

  constructor(context: ViewContext, health: Health) {
    this.#context = context;
    this.#health = health;
    this.#timedEvents = new TimedEvents(context);
    this.recordedSince = context.clock.wall();
    context.observer.watch = this.#observe;
    context.observer.watchFiles = this.#observeFiles;
  }

  route(): RawRoute {
    return {
      method: "GET",
      path: "/admin/v1/feed",
      access: "principal",
      serve: ({ request, response }) => this.#open(request, response),
    };
  }

  #open(request: AuthenticatedRequest, response: ServerResponse): AdminResponse | undefined {
    const { grant, isValid, sees } = request;
    const wanted = this.#parse(request);
    if ("refusal" in wanted) return wanted.refusal;
    const { kinds, object } = wanted;
    if (kinds.has("health") && grant.kind !== "server") {
      return refuse(403, "AdminTokenRequired", "kind health needs the admin token");
    }
    if (this.#subscribers.size >= subscribersMax) {
      return refuse(
        503,
        "TooManyWatchers",
        `the limit of ${subscribersMax} open streams is reached`,
      );
    }
    beginEventStream(response);
    const subscriber = new Subscriber(response, { kinds, sees, isValid, object });
    response.on("close", () => this.#remove(subscriber));
    const now = formatIso(this.#context.clock.wall());
    subscriber.send(eventText("hello", { now, kinds: [...kinds] }));
    this.#subscribers.add(subscriber);
    if (this.#subscribers.size === 1) this.#startObserving();
    else if (kinds.has("read")) this.#observeRequests();
    return undefined;
  }

  /** Parses the kinds of events that a stream requests, and its object. Reads of an object are
   *  recorded only while a stream is about that object. */
  #parse(request: AuthenticatedRequest): StreamOptions | { readonly refusal: AdminResponse } {
    const { query } = request;
    const { httpServices } = this.#context;
    const checks = query.has("service") ? objectChecks(httpServices) : {};
    const wrong = findQueryError(query, { kinds: optional(feedKindsCheck), ...checks });
    if (wrong !== undefined) return { refusal: refuse(400, "InvalidInput", wrong) };
    const kinds = parseKinds(query.get("kinds")) ?? new Set();
    if (!query.has("service")) {
      if (!kinds.has("read")) return { kinds, object: undefined };
      const message = "kind read needs an object: service, account, container, path";
      return { refusal: refuse(400, "InvalidInput", message) };
    }
    const target = objectTargetOf(httpServices, request);
    if ("refusal" in target) return target;
    const { service, account, address, httpService } = target;
    const object = { service, account, place: httpService.service.signedName(address) };
    return { kinds, object };
  }

  /** An event as JSON, for streams and timelines. */
  render(event: FeedEvent): object {
    const { httpServices, identity } = this.#context;
    return renderFeedEvent({ httpServices, identity: identity?.identity() }, event);
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.end();
    this.#subscribers.clear();
    this.#stopObserving();
    this.#context.observer.watch = undefined;
    this.#context.observer.watchFiles = undefined;
  }

  #startObserving(): void {
    this.#timedEvents.restart();
    this.#observeRequests();
    this.#runId += 1;
    void this.#tick(this.#runId);
  }

  /** Observes the requests of all workers, and the reads of the objects that streams are about. */
  #observeRequests(): void {
    const { otherWorkers } = this.#context;
    const reads = [...this.#subscribers].flatMap(({ kinds, object }) =>
      object !== undefined && kinds.has("read") ? [objectKey(object)] : [],
    );
    this.#watched.set(reads);
    otherWorkers?.observe(this.#receive, reads);
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#stopObserving();
    else if (subscriber.kinds.has("read")) this.#observeRequests();
  }

  #stopObserving(): void {
    this.#watched.set([]);
    this.holds.pause();
    this.waits.pause();
    this.#context.otherWorkers?.observe(undefined, []);
    this.#cancelTick();
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#queuedEvents = [];
  }

  readonly #observe = (observed: ObservedRequest): void => {
    this.#guarded(() => feedEventsOf(observed, this.#sink));
  };

  readonly #observeFiles = (change: FileChange): void => {
    this.#record(fileChangeEvent(change, this.#context.clock.wall()));
  };

  readonly #receive: ReceiveEvents = (events, missed) => {
    for (const event of events) this.#record(event);
    this.#overflow += missed;
  };

  /** Runs a feed callback; an exception must not fail the observed request. */
  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#context.log.error({ err: error }, "event feed failed to record a request");
    }
  }

  readonly #record = (event: FeedEvent): void => {
    (event.kind === "read" ? this.reads : this.events).push(event);
    if (event.refused !== undefined) this.#countRefusal(event.refused.rule);
    if (this.#subscribers.size === 0) return;
    if (this.#queuedEvents.length >= queuedEventsMax) this.#overflow += 1;
    else this.#queuedEvents.push(event);
    const flush = (): void => this.#guarded(() => this.#flush());
    this.#cancelFlush ??= this.#context.clock.after(flushMilliseconds, flush);
  };

  #countRefusal(rule: string): void {
    this.refusalsByRule.set(rule, (this.refusalsByRule.get(rule) ?? 0) + 1);
  }

  #flush(): void {
    this.#cancelFlush = undefined;
    const queued = this.#queuedEvents;
    const missed = this.#overflow;
    this.#queuedEvents = [];
    this.#overflow = 0;
    const now = this.#context.clock.monotonic();
    // Each event is rendered at most once, and only if some subscriber gets it.
    const texts: string[] = [];
    for (const subscriber of this.#subscribers) {
      let text = "";
      for (const [index, event] of queued.entries()) {
        if (!subscriber.admits(event.kind, event, now)) continue;
        texts[index] ??= eventText(event.kind, this.render(event));
        text += texts[index];
      }
      subscriber.miss(missed);
      this.#send(subscriber, text);
    }
  }

  /** Where `feedEventsOf` reports events. Created once, not for every request in `#observe`. */
  readonly #sink = { emit: this.#record, watched: this.#watched };

  async #tick(runId: number): Promise<void> {
    this.#ticks += 1;
    // Another process may have deleted a principal, which ends its logins. If the store is
    // unavailable, the principals that were read last decide.
    await this.#context.identity?.refresh().catch(() => undefined);
    this.#dismissInvalid();
    try {
      await this.#poll();
    } catch (error) {
      this.#context.log.warn({ err: error }, "event feed poll failed; retrying in 1 s");
    }
    if (this.#subscribers.size === 0 || runId !== this.#runId) return;
    const { clock } = this.#context;
    this.#cancelTick = clock.after(tickMilliseconds, () => void this.#tick(runId));
  }

  /** Closes the streams of logins that have ended. */
  #dismissInvalid(): void {
    for (const subscriber of this.#subscribers) {
      if (subscriber.isValid()) continue;
      subscriber.end();
      this.#remove(subscriber);
    }
  }

  /** Records what clients hold and wait for now, for timelines and recordings. */
  async #sample(): Promise<void> {
    const { clock } = this.#context;
    const held = await readRecords(this.#context, holdsNow);
    const now = clock.wall();
    const waits = await currentWaits(this.#context, [...this.events.latest()], now);
    if (this.#subscribers.size === 0) return;
    this.holds.update(now, held);
    this.waits.update(now, waitFacts(waits));
  }

  async #poll(): Promise<void> {
    await this.#sample();
    if (this.#wants("lease") || this.#wants("message")) {
      for (const event of await this.#timedEvents.poll()) this.#publish(event);
    }
    if (this.#wants("health")) {
      const data = await this.#health.measure();
      this.#publish({ kind: "health", about: undefined, data });
    }
    if (this.#ticks % ticksPerHeartbeat !== 0) return;
    for (const subscriber of this.#subscribers) this.#send(subscriber, ":\n\n");
  }

  #wants(kind: FeedKind): boolean {
    return [...this.#subscribers].some(({ kinds }) => kinds.has(kind));
  }

  #publish({ kind, about, data }: TimedEvent): void {
    const text = eventText(kind, data);
    const now = this.#context.clock.monotonic();
    for (const subscriber of this.#subscribers) {
      if (subscriber.admits(kind, about, now)) this.#send(subscriber, text);
    }
  }

  #send(subscriber: Subscriber, text: string): void {
    if (subscriber.send(text)) return;
    subscriber.destroy();
    this.#remove(subscriber);
  }
}
