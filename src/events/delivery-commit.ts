import type { LoggedEvent } from "../account/event-log.ts";
import type { Accounts } from "../account/settings.ts";
import { readAccount } from "../account/account-record.ts";
import {
  eventRetries,
  failuresKeptMax,
  readState,
  subscriptions,
  subscriptionStates,
  type DeliveryFailure,
  type QueueDestination,
  type RetryRecord,
  type SubscriptionKey,
  type SubscriptionRecord,
  type SubscriptionState,
} from "../account/subscription.ts";
import { allAwaitable } from "../base/awaitable.ts";
import { encodeBase64 } from "../base/base64.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import { applyEffects } from "../operation/apply.ts";
import { newGuid } from "../operation/identifiers.ts";
import { settleUsage, usageIn } from "../operation/quotas.ts";
import { runOnce, type Attempt, type Runtime } from "../operation/work.ts";
import { insertMessage } from "../queue/message/stored-messages.ts";
import { messageIdTicksMin, newMessageId } from "../queue/message/message-id.ts";
import { queues } from "../queue/records.ts";
import { comparePositions, type LogPosition } from "../store/logs.ts";
import type { Transaction } from "../store/store.ts";
import { readRecord } from "../store/typed-records.ts";
import {
  storeLetter,
  type DeadLetter,
  type DeadLetterPlace,
  letterOf,
  receiveLetter,
} from "./dead-letter.ts";
import type { EventGridEvent } from "./render-event.ts";
import type { AttemptFailure, Slot } from "./delivery-window.ts";
import { nextAttempt, type RetrySchedule } from "./retry-schedule.ts";

/** Collects the outcomes of the deliveries of a subscription (`CommitBatch`), and stores them in
 *  one transaction (`commitDelivery`). The same transaction moves the position up to which the
 *  subscription has read the event log, so that no event is lost or put into a queue twice. */

/** What one transaction stores of the deliveries of a subscription. */
interface DeliveryCommit {
  /** The position in the event log from which this process has delivered. If the stored one is
   *  different, another process has delivered since. */
  readonly from: LogPosition;
  readonly to: LogPosition;
  readonly outcomes: CommitBatch;
}

/** A subscription of an account, as a process delivers it. */
export interface DeliveredSubscription extends SubscriptionKey {
  readonly accountId: bigint;
  readonly record: SubscriptionRecord;
}

/** `done`: everything was stored. In all other cases nothing was stored. `stale`: the subscription,
 *  account or position has changed. `no-queue`: the queue does not exist. `no-letter`: the fault
 *  with this code prevents dead letters. */
type CommitResult =
  | { readonly kind: "done" | "stale" | "no-queue" }
  | { readonly kind: "no-letter"; readonly code: string };

/** Ends the transaction without a commit, and with this result. */
class Refused extends Error {
  readonly result: CommitResult;

  constructor(result: CommitResult) {
    super(result.kind);
    this.result = result;
  }
}

/** Stores outcomes and the new position in the event log in one transaction. */
export async function commitDelivery(
  runtime: Runtime,
  accounts: Accounts,
  subscription: DeliveredSubscription,
  commit: DeliveryCommit,
): Promise<CommitResult> {
  try {
    await runOnce(runtime, {
      effect: "writes",
      // Entries of the event log can be deleted once the position has passed them. So this write
      // must be possible, although it needs space, when the quota of the account is used up.
      mayUseReserve: true,
      attempt: (attempt) => applyCommit(attempt, accounts, subscription, commit),
    });
    return { kind: "done" };
  } catch (error) {
    if (error instanceof Refused) return error.result;
    throw error;
  }
}

async function applyCommit(
  attempt: Attempt,
  accounts: Accounts,
  subscription: DeliveredSubscription,
  commit: DeliveryCommit,
): Promise<void> {
  const tx = attempt.tx!;
  const { outcomes } = commit;
  const state = await currentState(tx, subscription, commit);
  if (state === undefined) throw new Refused({ kind: "stale" });
  const { account, name, record } = subscription;
  const { destination, deadLetterContainer = "" } = record;
  let { lastMessageAt } = state;
  if (outcomes.messages.length > 0 && destination.type === "queue") {
    lastMessageAt = await putMessages(attempt, subscription, destination, {
      events: outcomes.messages,
      after: lastMessageAt,
    });
    if (lastMessageAt === undefined) throw new Refused({ kind: "no-queue" });
  }
  const place: DeadLetterPlace = { account, container: deadLetterContainer, subscription: name };
  for (const letter of outcomes.letters) {
    const code = await storeLetter(attempt, accounts, place, letter);
    if (code !== undefined) throw new Refused({ kind: "no-letter", code });
  }
  const retries = state.retries + (await storeRetries(tx, subscription, outcomes));
  const next = { ...counted(state, commit), retries, lastMessageAt };
  tx.put(subscriptionStates.key(subscription), subscriptionStates.codec.encode(next));
}

/** Stores new retries (events to deliver again), removes ended ones. Returns the change in
 *  number. */
async function storeRetries(
  tx: Transaction,
  { account, name }: SubscriptionKey,
  { retries, removed }: CommitBatch,
): Promise<number> {
  const keyOf = (position: LogPosition) => eventRetries.key({ account, name, position });
  // The reads run at the same time, because a database answers reads of many keys together.
  const count = async (positions: readonly LogPosition[]): Promise<number> => {
    const values = await allAwaitable(positions.map((position) => tx.get(keyOf(position))));
    return values.filter((value) => value !== undefined).length;
  };
  const [replaced, deleted] = await Promise.all([
    count(retries.map(({ position }) => position)),
    count(removed),
  ]);
  // A missing retry was ended by an earlier commit whose response was lost; the position alone does
  // not show it.
  if (deleted < removed.length) throw new Refused({ kind: "stale" });
  for (const { position, ...retry } of retries) {
    tx.put(keyOf(position), eventRetries.codec.encode(retry));
  }
  for (const position of removed) tx.delete(keyOf(position));
  return retries.length - replaced - deleted;
}

/** The stored state of the subscription if the commit continues from it; otherwise undefined. */
async function currentState(
  tx: Transaction,
  { account, name, accountId, record }: DeliveredSubscription,
  { from }: DeliveryCommit,
): Promise<SubscriptionState | undefined> {
  const present = await readRecord(tx, subscriptions, { account, name });
  if (present?.revision !== record.revision) return undefined;
  const owner = await readAccount(tx, account);
  const state = await readState(tx, { account, name });
  if (owner?.id !== accountId || state?.accountId !== accountId) return undefined;
  return comparePositions(state.position, from) === 0 ? state : undefined;
}

function counted(state: SubscriptionState, commit: DeliveryCommit): SubscriptionState {
  const { messages, letters, failures, delivered, dropped } = commit.outcomes;
  return {
    ...state,
    position: commit.to,
    delivered: state.delivered + delivered + messages.length,
    failed: state.failed + failures.length,
    deadLettered: state.deadLettered + letters.length,
    dropped: state.dropped + dropped,
    failures: [...failures.toReversed(), ...state.failures].slice(0, failuresKeptMax),
  };
}

/** Time to live of a message unless the subscription says so: 7 days, as in Event Grid. */
const messageTimeToLiveSecondsDefault = 604_800;

interface NewMessages {
  readonly events: readonly EventGridEvent[];
  /** The time of the last message before; undefined for the first one. */
  readonly after: Ticks | undefined;
}

/** Puts events into a queue, each in base64, in their order. Returns the time of the last message;
 *  undefined if there is no queue. */
async function putMessages(
  { runtime, tx, now, records }: Attempt,
  { account }: SubscriptionKey,
  destination: QueueDestination,
  { events, after = 0n }: NewMessages,
): Promise<Ticks | undefined> {
  const owner = await readAccount(tx!, destination.account ?? account);
  if (owner === undefined) return undefined;
  const queue = await records.get(queues, { account: owner.id, name: destination.queue });
  if (queue === undefined) return undefined;
  const { messageTimeToLiveSeconds: seconds = messageTimeToLiveSecondsDefault } = destination;
  // Each message gets a later time, because messages of the same time would have any order.
  let at = after >= now ? after : now - messageIdTicksMin;
  const effects = events.flatMap((event) => {
    at += messageIdTicksMin;
    return insertMessage(queue.id, newMessageId(at, newGuid(runtime.random)), {
      inserted: now,
      expires: now + ticksFromSeconds(seconds),
      visibleAt: at,
      dequeueCount: 0,
      updateCount: 0,
      text: encodeBase64(Buffer.from(JSON.stringify(event))),
    });
  });
  const usage = usageIn({ account: owner });
  await applyEffects(runtime.content, tx!, effects, now, { usage });
  if (usage !== undefined) {
    await settleUsage(runtime.quotas, tx!, usage, { request: usage, isExempt: true });
  }
  return at;
}

/** Most dead letters (blobs with undeliverable events) that one transaction writes. */
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
  /** Undefined after success. `commit`: the transaction that stores the outcome also puts the event
   *  into the queue. */
  readonly failure: AttemptFailure | "commit" | undefined;
}

interface BatchParts {
  readonly runtime: Runtime;
  readonly subscription: DeliveredSubscription;
}

/** Collects the outcomes of deliveries that one transaction stores: retries, dead letters and
 *  counts. */
export class CommitBatch {
  readonly #parts: BatchParts;
  readonly #now: Ticks;
  readonly #isQueueMissing: boolean;
  delivered = 0;
  /** Number of events that are given up without a dead letter. */
  dropped = 0;
  /** Events that the transaction puts into the queue. */
  readonly messages: EventGridEvent[] = [];
  /** Events to deliver again: new ones, and those of which another attempt has failed. */
  readonly retries: (RetryRecord & { readonly position: LogPosition })[] = [];
  /** Positions of retries to delete. */
  readonly removed: LogPosition[] = [];
  readonly letters: DeadLetter[] = [];
  readonly failures: DeliveryFailure[] = [];
  readonly #changes: ((schedule: RetrySchedule) => void)[] = [];

  constructor(parts: BatchParts, now: Ticks, isQueueMissing: boolean) {
    this.#parts = parts;
    this.#now = now;
    this.#isQueueMissing = isQueueMissing;
  }

  get isFull(): boolean {
    return this.letters.length >= lettersMax;
  }

  async addSlot({ event, position, rendered, outcome }: Slot): Promise<void> {
    const { subject } = rendered;
    if (outcome?.kind === "delivered") this.delivered += 1;
    else if (outcome?.kind === "behind") {
      this.retries.push({ position, event, attempts: 0, nextAt: this.#now });
      this.#stored(subject, position);
    } else if (outcome?.kind === "commit" && !this.#isQueueMissing) this.messages.push(rendered);
    else {
      const failure = outcome?.kind === "failed" ? outcome.failure : missingQueue;
      const record = this.#failed({ event, attempts: 0, nextAt: this.#now }, rendered, failure);
      if (this.#isEnd(record, failure)) await this.#giveUp(record, rendered, failure);
      else {
        this.retries.push({ ...record, position });
        this.#stored(subject, position, record.nextAt);
      }
    }
  }

  async addRetry({ position, record, rendered, failure }: TriedRetry): Promise<void> {
    const { subject } = rendered;
    const isPut = failure === "commit" && !this.#isQueueMissing;
    if (failure === undefined || isPut) {
      if (isPut) this.messages.push(rendered);
      else this.delivered += 1;
      this.#end(subject, position);
      return;
    }
    const cause = failure === "commit" ? missingQueue : failure;
    const next = cause.reason === expired ? record : this.#failed(record, rendered, cause);
    if (this.#isEnd(next, cause)) {
      await this.#giveUp(next, rendered, cause);
      this.#end(subject, position);
    } else {
      this.retries.push({ ...next, position });
      this.#changes.push((schedule) => schedule.postponed(subject, next.nextAt));
    }
  }

  #end(subject: string, position: LogPosition): void {
    this.removed.push(position);
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
    this.failures.push({ at, subject: subject.slice(0, shownUnitsMax), reason: shown });
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
      this.dropped += 1;
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
    this.letters.push(await receiveLetter(runtime, place, this.#now, letter));
  }

  /** Called after the commit: applies the stored outcomes to the retries in memory. */
  applyTo(schedule: RetrySchedule): void {
    for (const change of this.#changes) change(schedule);
  }
}
