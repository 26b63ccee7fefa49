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
import { storeLetter, type DeadLetter, type DeadLetterPlace } from "./dead-letter.ts";
import type { EventGridEvent } from "./render-event.ts";

/** The outcomes of deliveries that one transaction stores for a subscription: `commit-batch.ts`
 *  collects them, and this file writes them. The same transaction moves the position up to which
 *  the subscription has read the event log, so that no event is lost or put into a queue twice. */
export interface DeliveryCommit {
  /** The stored position from which the delivery continued. If the stored one is different now,
   *  another process has delivered since. */
  readonly from: LogPosition;
  readonly to: LogPosition;
  readonly delivered: number;
  /** Events that the transaction puts into the queue. */
  readonly messages: readonly EventGridEvent[];
  /** New retries, and those whose record has changed. */
  readonly retries: readonly (RetryRecord & Pick<LoggedEvent, "position">)[];
  /** Positions of retries to delete. */
  readonly removed: readonly LogPosition[];
  readonly letters: readonly DeadLetter[];
  /** Events that are given up without a dead letter. */
  readonly dropped: number;
  readonly failures: readonly DeliveryFailure[];
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

/** Ends an attempt without writing. */
class Refused extends Error {
  readonly result: CommitResult;

  constructor(result: CommitResult) {
    super(result.kind);
    this.result = result;
  }
}

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
  const state = await currentState(tx, subscription, commit);
  if (state === undefined) throw new Refused({ kind: "stale" });
  const { account, name, record } = subscription;
  const { destination, deadLetterContainer = "" } = record;
  let { lastMessageAt } = state;
  if (commit.messages.length > 0 && destination.type === "queue") {
    lastMessageAt = await putMessages(attempt, subscription, destination, {
      events: commit.messages,
      after: lastMessageAt,
    });
    if (lastMessageAt === undefined) throw new Refused({ kind: "no-queue" });
  }
  const place: DeadLetterPlace = { account, container: deadLetterContainer, subscription: name };
  for (const letter of commit.letters) {
    const code = await storeLetter(attempt, accounts, place, letter);
    if (code !== undefined) throw new Refused({ kind: "no-letter", code });
  }
  const retries = state.retries + (await storeRetries(tx, subscription, commit));
  const next = { ...counted(state, commit), retries, lastMessageAt };
  tx.put(subscriptionStates.key(subscription), subscriptionStates.codec.encode(next));
}

/** Stores and removes retries. Returns the change of their number. */
async function storeRetries(
  tx: Transaction,
  { account, name }: SubscriptionKey,
  { retries, removed }: DeliveryCommit,
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
  // An earlier commit whose response was lost has ended a retry; the position alone does not show
  // it.
  if (deleted < removed.length) throw new Refused({ kind: "stale" });
  for (const { position, ...retry } of retries) {
    tx.put(keyOf(position), eventRetries.codec.encode(retry));
  }
  for (const position of removed) tx.delete(keyOf(position));
  return retries.length - replaced - deleted;
}

/** The stored state if the commit continues from it; otherwise undefined. */
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
  const { messages, letters, failures, delivered, dropped } = commit;
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

/** Default of Event Grid: 7 days. */
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
  // Messages of the same time would have any order.
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
