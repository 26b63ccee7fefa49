import { eventLog, readEvents } from "../account/event-log.ts";
import type { Accounts } from "../account/settings.ts";
import { eventRetries, readState, retriesMax } from "../account/subscription.ts";
import { ticksFromSeconds, ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Log } from "../base/world.ts";
import type { Runtime } from "../operation/work.ts";
import { comparePositions, type LogPosition } from "../store/logs.ts";
import type { View } from "../store/store.ts";
import {
  CommitBatch,
  expired,
  type TriedRetry,
  commitDelivery,
  type DeliveredSubscription,
} from "./delivery-commit.ts";
import { DeliveryWindow, type AttemptFailure, type Slot } from "./delivery-window.ts";
import { filterOf, type EventFilter } from "./event-filter.ts";
import { toEventGrid, type EventGridEvent, type EventSource } from "./render-event.ts";
import { readSchedule, RetrySchedule } from "./retry-schedule.ts";

/** Delivers the events of one subscription: reads them from the log into the window, sends them,
 *  and stores the outcomes. `event-delivery.ts` starts and stops the runs. */

/** Sends one event to a webhook; resolves to why it failed, or to undefined after success. */
export type SendEvent = (
  event: EventGridEvent,
  attempts: number,
) => Promise<AttemptFailure | undefined>;

interface RunParts {
  readonly runtime: Runtime;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly subscription: DeliveredSubscription;
  readonly source: EventSource;
  /** Containers whose blobs are dead letters: their events are not delivered, because dead letters
   *  about dead letters would never end. */
  readonly deadLetterContainers: ReadonlySet<string>;
  /** Sends an event to a webhook. Undefined for a queue, into which the transaction that moves the
   *  position puts the events. */
  readonly send: SendEvent | undefined;
}

/** Limits of a subscription: events in memory, events of one read, requests at the same time. */
const windowMax = 1024;
const readMax = 256;
const concurrentMax = 64;
/** Most events whose outcomes one transaction stores. */
const commitMax = 256;
/** While requests are under way, outcomes are collected for this time and then stored together. */
const commitMilliseconds = 25;
/** Pause after an unexpected error, and the longest wait for a change. */
const pauseMilliseconds = 5000;

/** The delivery of one subscription, from its creation until `stop`. */
export class SubscriptionRun {
  readonly #parts: RunParts;
  readonly #filter: EventFilter;
  #window = new DeliveryWindow();
  #retries = new RetrySchedule();
  #tried: TriedRetry[] = [];
  /** The position in the store, and that of the last event that was read from the log. The events
   *  between them are in the window. */
  #storedTo: LogPosition = { sequence: 0, number: 0 };
  #readTo: LogPosition = { sequence: 0, number: 0 };
  #mayHaveMore = true;
  #active = 0;
  #isCommitting = false;
  #commitFailure: unknown;
  #endedSince: Ticks | undefined;
  #isStopped = false;
  #raise = (): void => {};
  #cancelTimer = (): void => {};
  readonly #done: Promise<void>;
  readonly #unwatch: () => void;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { runtime, subscription } = parts;
    this.#filter = filterOf(subscription.record);
    const log = eventLog.prefix([subscription.accountId]);
    this.#unwatch = runtime.store.watch(log, () => {
      this.#mayHaveMore = true;
      this.#raise();
    });
    this.#done = this.#run();
  }

  get subscription(): DeliveredSubscription {
    return this.#parts.subscription;
  }

  /** Stops the run. Resolves when no delivery is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unwatch();
    this.#cancelTimer();
    this.#raise();
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#deliver();
      } catch (error) {
        const { account, name } = this.subscription;
        const fields = { err: error, account, subscription: name };
        if (this.#isStopped) return;
        this.#parts.log.warn(fields, "event delivery failed; continuing in 5 s");
        const raised = this.#nextRaise();
        this.#setTimer(pauseMilliseconds);
        await raised;
      }
    }
  }

  /** Begins at the stored position, and goes on until the run is stopped or outdated. */
  async #deliver(): Promise<void> {
    const { store } = this.#parts.runtime;
    const isFound = await store.snapshot(async (view) => {
      const state = await readState(view, this.subscription);
      if (state === undefined) return false;
      this.#storedTo = state.position;
      this.#readTo = state.position;
      this.#retries = await readSchedule(view, this.subscription);
      return true;
    });
    // The subscription was deleted: waits until `event-delivery.ts` stops this run.
    if (!isFound) return this.#nextRaise();
    this.#window = new DeliveryWindow();
    this.#tried = [];
    this.#mayHaveMore = true;
    this.#commitFailure = undefined;
    const isOutdated = (): boolean => this.#commitFailure !== undefined;
    try {
      while (!this.#isStopped && !isOutdated()) {
        const raised = this.#nextRaise();
        const now = await this.#read();
        this.#dispatch();
        this.#dispatchRetries(now);
        this.#commitIfDue(now);
        this.#setTimer(this.#pauseAfter(now));
        if (!this.#canReadMore()) await raised;
      }
    } finally {
      // Also after a failed read, the commit under way must end first: it changes the position and
      // the window, and the next start would deliver events twice or never.
      await this.#finish();
    }
    if (isOutdated() && this.#commitFailure !== "stale") throw this.#commitFailure;
  }

  /** Waits for what is under way. A stop stores what has ended until then. */
  async #finish(): Promise<void> {
    while (this.#active > 0 || this.#isCommitting) await this.#nextRaise();
    const hasEnded = this.#window.hasEnded || this.#tried.length > 0;
    if (this.#isStopped && hasEnded && this.#commitFailure === undefined) await this.#commit();
  }

  #nextRaise(): Promise<void> {
    return new Promise((resolve) => {
      this.#raise = resolve;
    });
  }

  #setTimer(milliseconds: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.runtime.clock.after(milliseconds, () => this.#raise());
  }

  /** How long the run may wait for changes: milliseconds until the next retry or commit is due. */
  #pauseAfter(now: Ticks): number {
    const due = this.#active < concurrentMax ? this.#retries.nextDue() : undefined;
    const left = due === undefined ? undefined : Number((due - now) / ticksPerMillisecond);
    const untilDue = left ?? pauseMilliseconds;
    const untilCommit = this.#endedSince === undefined ? pauseMilliseconds : commitMilliseconds;
    return Math.min(Math.max(untilDue + 1, 1), untilCommit, pauseMilliseconds);
  }

  #canReadMore(): boolean {
    const isFull = this.#retries.count + this.#window.size >= retriesMax;
    return this.#mayHaveMore && this.#window.size + readMax <= windowMax && !isFull;
  }

  /** Reads further events into the window. Returns store time. */
  #read(): Promise<Ticks> {
    const { runtime, subscription, source, deadLetterContainers } = this.#parts;
    const expected = this.#isCommitting ? undefined : this.#storedTo;
    const isReading = this.#canReadMore();
    // Reset before the view is opened: an event that is committed after it must be read with the
    // next view.
    if (isReading) this.#mayHaveMore = false;
    return runtime.store.snapshot(async (view) => {
      if (!isReading) return view.now;
      if (expected !== undefined && !(await isAt(view, subscription, expected))) {
        this.#commitFailure ??= "stale";
        return view.now;
      }
      const events = await readEvents(view, subscription.accountId, this.#readTo, readMax);
      for (const logged of events) {
        this.#readTo = logged.position;
        if (deadLetterContainers.has(logged.event.container)) continue;
        const rendered = toEventGrid(logged, source);
        if (this.#filter(rendered)) this.#window.add({ ...logged, rendered });
      }
      if (events.length === readMax) this.#mayHaveMore = true;
      return view.now;
    });
  }

  #dispatch(): void {
    const { send } = this.#parts;
    for (;;) {
      if (send !== undefined && this.#active >= concurrentMax) return;
      const slot = this.#window.takeReady();
      if (slot === undefined) return;
      if (this.#retries.has(slot.rendered.subject)) {
        this.#scheduleBehind(slot);
      } else if (send === undefined) this.#window.end(slot, { kind: "commit" });
      else {
        void this.#send(send, slot).catch((error: unknown) => {
          this.#commitFailure ??= error;
          this.#raise();
        });
      }
    }
  }

  #scheduleBehind(slot: Slot): void {
    const { position, rendered } = slot;
    this.#window.end(slot, { kind: "behind" });
    this.#retries.add(rendered.subject, { position, dueAt: 0n, isStored: false });
  }

  async #send(send: SendEvent, slot: Slot): Promise<void> {
    this.#active += 1;
    const failure = await send(slot.rendered, 0).finally(() => {
      this.#active -= 1;
    });
    if (failure === undefined) this.#window.end(slot, { kind: "delivered" });
    // The connections are closed by a stop, which is no failure of the webhook.
    else if (!this.#isStopped) {
      const { position, rendered } = slot;
      // Before `end`, which makes the next event of the subject ready: it must wait behind this
      // one.
      if (!this.#isLast(1, failure)) {
        this.#retries.add(rendered.subject, { position, dueAt: 0n, isStored: false });
      }
      this.#window.end(slot, { kind: "failed", failure });
    }
    this.#raise();
  }

  /** Whether no attempt follows the one with this number and failure. */
  #isLast(attempts: number, { isFinal }: AttemptFailure): boolean {
    return isFinal || attempts >= this.subscription.record.maxDeliveryAttempts;
  }

  #dispatchRetries(now: Ticks): void {
    const free = concurrentMax - this.#active;
    if (free <= 0) return;
    for (const { subject, position } of this.#retries.takeDue(now, free)) {
      this.#active += 1;
      void this.#tryAgain(subject, position)
        .catch((error: unknown) => {
          this.#commitFailure ??= error;
        })
        .finally(() => {
          this.#active -= 1;
          this.#raise();
        });
    }
  }

  async #tryAgain(subject: string, position: LogPosition): Promise<void> {
    const { runtime, source, send } = this.#parts;
    const { account, name } = this.subscription;
    const key = eventRetries.key({ account, name, position });
    const found = await runtime.store.snapshot(async (view) => ({
      value: await view.get(key),
      now: view.now,
    }));
    // If the retry is no longer stored, another process has delivered the event.
    if (found.value === undefined) return this.#retries.ended(subject);
    const record = eventRetries.codec.decode(found.value);
    const { event, attempts } = record;
    const rendered = toEventGrid({ event, position }, source);
    const isExpired = found.now >= this.#expiryOf(event.time);
    const failure = isExpired
      ? { reason: expired, isFinal: true }
      : send === undefined
        ? "commit"
        : await send(rendered, attempts);
    const isAborted = this.#isStopped && failure !== undefined;
    if (!isAborted) this.#tried.push({ event, position, record, rendered, failure });
  }

  #expiryOf(time: Ticks): Ticks {
    return time + ticksFromSeconds(this.subscription.record.eventTimeToLiveSeconds);
  }

  /** Stores what has ended: at once if nothing else is under way, otherwise after 25 ms or many
   *  events. Events that do not match move the position only when nothing is under way. */
  #commitIfDue(now: Ticks): void {
    const hasEnded = this.#window.hasEnded || this.#tried.length > 0;
    const isMoved = this.#window.size === 0 && comparePositions(this.#readTo, this.#storedTo) > 0;
    if (this.#isCommitting || !(hasEnded || isMoved)) return;
    this.#endedSince ??= now;
    const isOld = now - this.#endedSince >= BigInt(commitMilliseconds) * ticksPerMillisecond;
    const isIdle = this.#active === 0;
    const isMany = this.#window.ended(commitMax).length === commitMax;
    if (!isOld && !isIdle && !isMany) return;
    this.#isCommitting = true;
    this.#endedSince = undefined;
    void this.#commit()
      .catch((error: unknown) => {
        this.#commitFailure ??= error;
      })
      .finally(() => {
        this.#isCommitting = false;
        this.#raise();
      });
  }

  async #commit(isQueueMissing = false): Promise<void> {
    const { runtime, accounts } = this.#parts;
    const { now } = await runtime.store.snapshot(async ({ now: time }) => ({ now: time }));
    const slots = this.#window.ended(commitMax);
    const tried = this.#tried.slice(0, commitMax);
    const batch = new CommitBatch(this.#parts, now, isQueueMissing);
    let passed = 0;
    for (const slot of slots) {
      if (batch.isFull) break;
      await batch.addSlot(slot);
      passed += 1;
    }
    let ended = 0;
    for (const retry of tried) {
      if (batch.isFull) break;
      await batch.addRetry(retry);
      ended += 1;
    }
    const taken = slots.slice(0, passed);
    const to = passed === slots.length ? this.#window.lastOf(taken) : taken.at(-1)?.position;
    const position = to ?? (passed === this.#window.size ? this.#readTo : this.#storedTo);
    const commit = { from: this.#storedTo, to: position, outcomes: batch };
    try {
      const result = await commitDelivery(runtime, accounts, this.subscription, commit);
      if (result.kind === "no-queue") return await this.#commit(true);
      if (result.kind === "stale") this.#commitFailure = "stale";
      if (result.kind === "no-letter") {
        throw new Error(`dead letters cannot be stored: ${result.code}`);
      }
      if (result.kind !== "done") return;
      this.#storedTo = position;
      this.#window.remove(passed);
      this.#tried.splice(0, ended);
      batch.applyTo(this.#retries);
    } finally {
      for (const { received } of batch.letters) runtime.content.discard(received);
    }
  }
}

/** Whether the stored position is the expected one. After the restore of a snapshot it is another
 *  one, and events that were read before must not be sent twice. */
async function isAt(
  view: View,
  subscription: DeliveredSubscription,
  position: LogPosition,
): Promise<boolean> {
  const state = await readState(view, subscription);
  return state !== undefined && comparePositions(state.position, position) === 0;
}
