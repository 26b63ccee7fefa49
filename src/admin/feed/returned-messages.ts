import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { queuesAfter, messagesVisibleBetween, type QueueTarget } from "../views/messages.ts";

/** Queues examined per poll; the next poll continues after them, so that many queues delay events
 *  but do not lengthen a poll. */
const queuesPerPollMax = 100;
const messagesPerQueueMax = 200;
const queuesTrackedMax = 10_000;

export interface ReturnedMessage {
  readonly at: string;
  readonly action: "returned";
  readonly account: string;
  readonly queue: string;
  readonly id: string;
  readonly dequeueCount: number;
}

/** Finds messages that were dequeued, not deleted in time, and are visible again. */
export class ReturnedMessages {
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
