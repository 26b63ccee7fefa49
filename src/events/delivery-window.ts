import type { LoggedEvent } from "../account/event-log.ts";
import type { LogPosition } from "../store/logs.ts";
import type { EventGridEvent } from "./render-event.ts";

/** The events of a subscription that `subscription-run.ts` is delivering, from reading them in the
 *  log until their outcome is stored. */

/** Why an attempt to deliver an event has failed. */
export interface AttemptFailure {
  readonly reason: string;
  /** HTTP status of the response; undefined if there was none, or the destination is a queue. */
  readonly status?: number | undefined;
  /** Whether another attempt would fail, too, so that none is made. */
  readonly isFinal: boolean;
}

/** What became of an event in the window. `behind`: an earlier event of its subject waits for a
 *  retry. `commit`: the transaction that moves the position delivers it. */
type SlotOutcome =
  | { readonly kind: "delivered" | "behind" | "commit" }
  | { readonly kind: "failed"; readonly failure: AttemptFailure };

/** An event that was read from the log, and whose outcome is not stored yet. */
export interface Slot extends LoggedEvent {
  readonly rendered: EventGridEvent;
  outcome?: SlotOutcome;
}

/** The window: the events that are being delivered, in the order of the log. Of the events of one
 *  subject (a blob or file) only the first one is ready, so that their order is kept. */
export class DeliveryWindow {
  readonly #slots: Slot[] = [];
  /** Events whose delivery has no outcome yet, by subject. */
  readonly #waiting = new Map<string, Slot[]>();
  readonly #ready: Slot[] = [];

  get size(): number {
    return this.#slots.length;
  }

  add(slot: Slot): void {
    this.#slots.push(slot);
    const { subject } = slot.rendered;
    const waiting = this.#waiting.get(subject);
    if (waiting !== undefined) {
      waiting.push(slot);
      return;
    }
    this.#waiting.set(subject, [slot]);
    this.#ready.push(slot);
  }

  /** Returns an event that can be delivered now, each only once; `end` must follow. */
  takeReady(): Slot | undefined {
    return this.#ready.shift();
  }

  end(slot: Slot, outcome: SlotOutcome): void {
    slot.outcome = outcome;
    const { subject } = slot.rendered;
    const waiting = this.#waiting.get(subject) ?? [];
    waiting.shift();
    const [next] = waiting;
    if (next === undefined) this.#waiting.delete(subject);
    else this.#ready.push(next);
  }

  /** The events up to the first one without an outcome, at most `countMax`: the stored position can
   *  be moved to the last of them. */
  ended(countMax: number): readonly Slot[] {
    const count = this.#slots.findIndex(({ outcome }) => outcome === undefined);
    return this.#slots.slice(0, Math.min(count < 0 ? this.#slots.length : count, countMax));
  }

  /** Whether the first event has an outcome, so that the stored position can be moved. */
  get hasEnded(): boolean {
    return this.#slots[0]?.outcome !== undefined;
  }

  remove(count: number): void {
    this.#slots.splice(0, count);
  }

  /** The position that the transaction stores: that of the last of the `ended` events. Undefined if
   *  these are all events of the window: then it stores the position up to which the log was
   *  read. */
  lastOf(ended: readonly Slot[]): LogPosition | undefined {
    return ended.length === this.#slots.length ? undefined : ended.at(-1)?.position;
  }
}
