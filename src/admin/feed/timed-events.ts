import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { Records } from "../../operation/records.ts";
import type { ViewContext } from "../admin-context.ts";
import { endedLeases } from "../views/held-leases.ts";
import { ReturnedMessages, type ReturnedMessage } from "./returned-messages.ts";
import type { FeedKind } from "./subscriber.ts";
import type { WatchedObject } from "./watched-objects.ts";

export interface TimedEvent {
  readonly kind: FeedKind;
  /** Undefined for events of the server. */
  readonly about: WatchedObject | undefined;
  readonly data: object;
}

const leasesMax = 500;

/** Finds events caused by time, not by a request: leases that expired or finished breaking, and
 *  messages that became visible again. */
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

  /** The events since the previous poll. */
  poll(): Promise<readonly TimedEvent[]> {
    const { store, content } = this.#context.runtime;
    return store.snapshot(async (view) => {
      const from = this.#until ?? view.now;
      this.#until = view.now;
      this.#messages ??= new ReturnedMessages(view.now);
      const records = new Records(view, content);
      const leases = await leasesEnded(records, from, view.now);
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
