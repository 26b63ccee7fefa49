import type { LoggedEvent } from "../account/event-log.ts";
import type { DeliveryFailure, RetryRecord } from "../account/subscription.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import type { Runtime } from "../operation/work.ts";
import type { LogPosition } from "../store/logs.ts";
import { letterOf, receiveLetter, type DeadLetter } from "./dead-letter.ts";
import type { DeliveredSubscription, DeliveryCommit } from "./delivery-commit.ts";
import type { AttemptFailure, Slot } from "./delivery-window.ts";
import type { EventGridEvent } from "./render-event.ts";
import { nextAttempt, type RetrySchedule } from "./retry-schedule.ts";

/** Collects what a transaction stores of the deliveries of a subscription. A dead letter is a blob
 *  with an event that could not be delivered; one transaction writes at most this many. */
const lettersMax = 32;
const shownUnitsMax = 200;
/** The failure of an event whose time to live has ended. */
export const expired = "time to live exceeded";
const missingQueue: AttemptFailure = { reason: "the queue does not exist", isFinal: false };

/** An event whose delivery had failed before (a stored retry), and the outcome of its next
 *  attempt. */
export interface TriedRetry extends LoggedEvent {
  readonly record: RetryRecord;
  readonly rendered: EventGridEvent;
  /** Undefined after success. `commit`: the delivery is part of the transaction that stores the
   *  outcome. */
  readonly failure: AttemptFailure | "commit" | undefined;
}

interface BatchParts {
  readonly runtime: Runtime;
  readonly subscription: DeliveredSubscription;
}

/** Collects the outcomes of deliveries that one transaction stores: position, retries, dead letters
 *  and counts. */
export class CommitBatch {
  readonly #parts: BatchParts;
  readonly #now: Ticks;
  readonly #isQueueMissing: boolean;
  #delivered = 0;
  #dropped = 0;
  readonly #messages: EventGridEvent[] = [];
  readonly #retries: (RetryRecord & { readonly position: LogPosition })[] = [];
  readonly #removed: LogPosition[] = [];
  readonly #letters: DeadLetter[] = [];
  readonly #failures: DeliveryFailure[] = [];
  readonly #changes: ((schedule: RetrySchedule) => void)[] = [];

  constructor(parts: BatchParts, now: Ticks, isQueueMissing: boolean) {
    this.#parts = parts;
    this.#now = now;
    this.#isQueueMissing = isQueueMissing;
  }

  get isFull(): boolean {
    return this.#letters.length >= lettersMax;
  }

  async addSlot({ event, position, rendered, outcome }: Slot): Promise<void> {
    const { subject } = rendered;
    if (outcome?.kind === "delivered") this.#delivered += 1;
    else if (outcome?.kind === "behind") {
      this.#retries.push({ position, event, attempts: 0, nextAt: this.#now });
      this.#stored(subject, position);
    } else if (outcome?.kind === "commit" && !this.#isQueueMissing) this.#messages.push(rendered);
    else {
      const failure = outcome?.kind === "failed" ? outcome.failure : missingQueue;
      const record = this.#failed({ event, attempts: 0, nextAt: this.#now }, rendered, failure);
      if (this.#isEnd(record, failure)) await this.#giveUp(record, rendered, failure);
      else {
        this.#retries.push({ ...record, position });
        this.#stored(subject, position, record.nextAt);
      }
    }
  }

  async addRetry({ position, record, rendered, failure }: TriedRetry): Promise<void> {
    const { subject } = rendered;
    const isPut = failure === "commit" && !this.#isQueueMissing;
    if (failure === undefined || isPut) {
      if (isPut) this.#messages.push(rendered);
      else this.#delivered += 1;
      this.#end(subject, position);
      return;
    }
    const cause = failure === "commit" ? missingQueue : failure;
    const next = cause.reason === expired ? record : this.#failed(record, rendered, cause);
    if (this.#isEnd(next, cause)) {
      await this.#giveUp(next, rendered, cause);
      this.#end(subject, position);
    } else {
      this.#retries.push({ ...next, position });
      this.#changes.push((schedule) => schedule.postponed(subject, next.nextAt));
    }
  }

  #end(subject: string, position: LogPosition): void {
    this.#removed.push(position);
    this.#changes.push((schedule) => schedule.ended(subject));
  }

  #stored(subject: string, position: LogPosition, dueAt?: Ticks): void {
    this.#changes.push((schedule) => schedule.stored(subject, position, dueAt));
  }

  #failed(
    record: RetryRecord,
    { subject }: EventGridEvent,
    { reason, status }: AttemptFailure,
  ): RetryRecord {
    const { runtime, subscription } = this.#parts;
    const attempts = record.attempts + 1;
    const at = this.#now;
    const shown = reason.slice(0, shownUnitsMax);
    this.#failures.push({ at, subject: subject.slice(0, shownUnitsMax), reason: shown });
    const latest = record.event.time + ticksFromSeconds(subscription.record.eventTimeToLiveSeconds);
    const nextAt = nextAttempt(runtime.random, { now: at, attempts, latest });
    const last = { lastFailure: shown, lastStatus: status, lastAttemptAt: at };
    return { event: record.event, attempts, nextAt, ...last };
  }

  #isEnd({ attempts }: RetryRecord, { isFinal }: AttemptFailure): boolean {
    return isFinal || attempts >= this.#parts.subscription.record.maxDeliveryAttempts;
  }

  async #giveUp(
    record: RetryRecord,
    rendered: EventGridEvent,
    { reason, isFinal }: AttemptFailure,
  ): Promise<void> {
    const { runtime, subscription } = this.#parts;
    const { account, name } = subscription;
    const container = subscription.record.deadLetterContainer;
    if (container === undefined) {
      this.#dropped += 1;
      return;
    }
    const why =
      reason === expired
        ? "TimeToLiveExceeded"
        : isFinal
          ? "UndeliverableDueToClientError"
          : "MaxDeliveryAttemptsExceeded";
    const place = { account, container, subscription: name };
    const letter = letterOf(rendered, record, why);
    this.#letters.push(await receiveLetter(runtime, place, this.#now, letter));
  }

  commit(from: LogPosition, to: LogPosition): DeliveryCommit {
    return {
      from,
      to,
      delivered: this.#delivered,
      dropped: this.#dropped,
      messages: this.#messages,
      retries: this.#retries,
      removed: this.#removed,
      letters: this.#letters,
      failures: this.#failures,
    };
  }

  /** Applies the stored outcomes to the retries in memory. */
  applyTo(schedule: RetrySchedule): void {
    for (const change of this.#changes) change(schedule);
  }
}
