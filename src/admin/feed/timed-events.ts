import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ViewContext } from "../admin-context.ts";
import { endedLeases } from "../views/leases.ts";
import type { FeedKind } from "./subscriber.ts";
import type { WatchedObject } from "./feed-event.ts";
import { messagesVisibleBetween, queuesAfter, type QueueTarget } from "../views/messages.ts";
import { readRecords } from "../views/pages.ts";
import type { ReturnedMessage } from "../api-types.ts";

/** Finds the events of the request feed that time causes, not a request. `feed.ts` polls once a
 *  second while there are subscribers. */

/** Limits of one poll. The next poll continues after these queues, so that many queues delay events
 *  but do not lengthen a poll. */
const queuesPerPollMax = 100;
const messagesPerQueueMax = 200;
/** Bounds memory; beyond it, messages that have returned may be reported twice. */
const queuesTrackedMax = 10_000;

/** Finds messages that were dequeued, not deleted in time, and are visible again. */
class ReturnedMessages {
  readonly #since: Ticks;
  /** Time up to which each queue was examined, by queue id. */
  readonly #until = new Map<bigint, Ticks>();
  #after: Uint8Array | undefined;

  constructor(since: Ticks) {
    this.#since = since;
  }

  async poll(view: RecordView): Promise<readonly ReturnedMessage[]> {
    const found: ReturnedMessage[] = [];
    let looked = 0;
    for await (const { key, place } of queuesAfter(view, this.#after, queuesPerPollMax)) {
      looked += 1;
      this.#after = key;
      found.push(...(await this.#returnedTo(view, place)));
    }
    if (looked < queuesPerPollMax) this.#after = undefined;
    return found;
  }

  async #returnedTo(view: RecordView, place: QueueTarget): Promise<readonly ReturnedMessage[]> {
    const { account, queue, id: owner } = place;
    const from = this.#until.get(owner) ?? this.#since;
    if (this.#until.size >= queuesTrackedMax) this.#until.clear();
    this.#until.set(owner, view.now);
    const window = { from, to: view.now, limit: messagesPerQueueMax };
    const returned: ReturnedMessage[] = [];
    for (const { id, message } of await messagesVisibleBetween(view, owner, window)) {
      const { dequeueCount, visibleAt } = message;
      // A message that was never dequeued is visible for the first time, not again.
      if (dequeueCount === 0) continue;
      const at = formatIso(visibleAt);
      returned.push({ at, action: "returned", account, queue, id, dequeueCount });
    }
    return returned;
  }
}

export interface TimedEvent {
  readonly kind: FeedKind;
  /** Undefined for events of the server itself. */
  readonly about: WatchedObject | undefined;
  readonly data: object;
}

const leasesMax = 500;

/** Finds leases that expired or finished breaking, and messages that became visible again. */
export class TimedEvents {
  readonly #context: ViewContext;
  #until: Ticks | undefined;
  #messages: ReturnedMessages | undefined;

  constructor(context: ViewContext) {
    this.#context = context;
  }

  /** Called when a period with subscribers begins: only later events are reported. */
  restart(): void {
    this.#until = undefined;
    this.#messages = undefined;
  }

  /** The events since the previous call of `poll`. */
  poll(): Promise<readonly TimedEvent[]> {
    return readRecords(this.#context, async (records) => {
      const { now } = records;
      const from = this.#until ?? now;
      this.#until = now;
      this.#messages ??= new ReturnedMessages(now);
      const leases = await leasesEnded(records, from, now);
      const messages = await this.#messages.poll(records);
      return [...leases, ...messages.map(messageEvent)];
    });
  }
}

function messageEvent(data: ReturnedMessage): TimedEvent {
  const { account, queue: name } = data;
  return { kind: "message", about: { service: "queue", account, place: { name } }, data };
}

async function leasesEnded(
  view: RecordView,
  from: Ticks,
  to: Ticks,
): Promise<readonly TimedEvent[]> {
  const ended = await endedLeases(view, { from, to, limit: leasesMax });
  return ended.map(({ lease, at, ...place }) => ({
    kind: "lease",
    about: {
      service: place.service,
      account: place.account,
      place: { name: place.container, path: place.path },
    },
    data: {
      at: formatIso(at),
      action: lease.breaksAt === undefined ? "expired" : "broken",
      ...place,
      id: lease.id,
      durationSeconds: lease.durationSeconds,
    },
  }));
}
