import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { queuesAfter, messagesVisibleBetween, type QueuePlace } from "../views/messages.ts";

/** Queues that one look goes through; the next goes on behind them, so that many queues make the
 *  news late, not the looks long. */
const queuesPerLookMax = 100;
const messagesPerQueueMax = 200;
const queuesRememberedMax = 10_000;

export interface ReturnedMessage {
  readonly at: string;
  readonly action: "returned";
  readonly account: string;
  readonly queue: string;
  readonly id: string;
  readonly dequeueCount: number;
}

/** Finds messages that were taken, not deleted in time, and are visible again. */
export class ReturnedMessages {
  readonly #since: Ticks;
  /** Until when each queue has been looked through. */
  readonly #until = new Map<bigint, Ticks>();
  #after: Uint8Array | undefined;

  constructor(since: Ticks) {
    this.#since = since;
  }

  async look(view: RecordView): Promise<readonly ReturnedMessage[]> {
    const found: ReturnedMessage[] = [];
    let looked = 0;
    for await (const { key, place } of queuesAfter(view, this.#after, queuesPerLookMax)) {
      looked += 1;
      this.#after = key;
      found.push(...(await this.#returnedTo(view, place)));
    }
    if (looked < queuesPerLookMax) this.#after = undefined;
    return found;
  }

  async #returnedTo(view: RecordView, place: QueuePlace): Promise<readonly ReturnedMessage[]> {
    const { account, queue, id: owner } = place;
    const from = this.#until.get(owner) ?? this.#since;
    if (this.#until.size >= queuesRememberedMax) this.#until.clear();
    this.#until.set(owner, view.now);
    const window = { from, to: view.now, limit: messagesPerQueueMax };
    const returned: ReturnedMessage[] = [];
    for (const { id, message } of await messagesVisibleBetween(view, owner, window)) {
      const { dequeueCount, visibleAt } = message;
      // One that was put a moment ago, or with a delay, was never taken.
      if (dequeueCount === 0) continue;
      const at = formatIso(visibleAt);
      returned.push({ at, action: "returned", account, queue, id, dequeueCount });
    }
    return returned;
  }
}
