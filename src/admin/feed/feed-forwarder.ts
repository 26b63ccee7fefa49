import type { Clock, Log } from "../../base/world.ts";
import type { ObservedRequest, Observer } from "../../http/http-service.ts";
import { feedEventsOf, WatchedObjects, type FeedEvent } from "./feed-event.ts";

/** The worker processes (`--workers`) forward their events of the request feed to the main worker:
 *  only that has the admin listener, and with it the subscribers of the feed. */

interface FeedForwarderOptions {
  readonly observer: Observer;
  readonly clock: Clock;
  readonly log: Log;
  /** Sends events to the main worker; resolves when it can take more. */
  readonly send: (events: readonly FeedEvent[], missed: number) => Promise<void>;
}

/** Bounds memory: events beyond this number count as missed. */
const queuedEventsMax = 1000;
const flushMilliseconds = 50;

/** Sends the feed events of this process to the main worker, through the supervisor. At most one
 *  message is on its way. Events wait in a queue; those that do not fit are counted as missed. */
export class FeedForwarder {
  readonly #options: FeedForwarderOptions;
  readonly #watched = new WatchedObjects();
  #queue: FeedEvent[] = [];
  #missed = 0;
  #isScheduled = false;

  constructor(options: FeedForwarderOptions) {
    this.#options = options;
  }

  /** Starts or stops forwarding. `reads`: keys of the objects with an open timeline in the
   *  explorer. Reads are forwarded for these objects only. */
  observe(isOn: boolean, reads: readonly string[]): void {
    this.#watched.set(reads);
    this.#options.observer.watch = isOn ? this.#watch : undefined;
  }

  readonly #watch = (observed: ObservedRequest): void => {
    // An exception must not fail the observed request.
    try {
      feedEventsOf(observed, this.#sink);
    } catch (error) {
      this.#options.log.error({ err: error }, "event feed failed to record a request");
    }
  };

  readonly #add = (event: FeedEvent): void => {
    if (this.#queue.length >= queuedEventsMax) this.#missed += 1;
    else this.#queue.push(event);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.clock.after(flushMilliseconds, () => void this.#flush());
  };

  readonly #sink = { emit: this.#add, watched: this.#watched };

  async #flush(): Promise<void> {
    const events = this.#queue;
    const missed = this.#missed;
    this.#queue = [];
    this.#missed = 0;
    try {
      await this.#options.send(events, missed);
    } catch (error) {
      this.#missed += missed + events.length;
      this.#options.log.warn({ err: error }, "forwarding feed events failed; counted as missed");
    }
    this.#isScheduled = false;
    if (this.#queue.length === 0) return;
    this.#isScheduled = true;
    this.#options.clock.after(flushMilliseconds, () => void this.#flush());
  }
}
