import type { Ticks } from "../base/ticks.ts";
import {
  anyTable,
  defineTable,
  type AnyTable,
  internalRecord,
  recordCodec,
} from "../encoding/table.ts";
import type { LogPosition } from "../store/logs.ts";
import type { View } from "../store/store.ts";
import { readRecord, readRecords } from "../store/typed-records.ts";
import type { EventRecord } from "./event-log.ts";

/** Event subscriptions in the store: which events of an account are delivered and where to, how far
 *  the delivery has come, and the events that must be delivered again. `events` delivers them;
 *  `subscription-changes.ts` changes them. */

/** The events that a subscription delivers, and their destination. */
export interface Subscription {
  /** Full names of event types (`Microsoft.Storage.BlobCreated`). Undefined: the types that Event
   *  Grid has. `All`: every type. */
  readonly eventTypes?: readonly string[] | undefined;
  readonly subjectBeginsWith?: string | undefined;
  readonly subjectEndsWith?: string | undefined;
  /** Whether the two subject filters distinguish upper and lower case; undefined: they do not. */
  readonly isSubjectCaseSensitive?: boolean | undefined;
  /** Conditions that an event must all meet. */
  readonly advancedFilters?: readonly AdvancedFilter[] | undefined;
  readonly destination: Destination;
  /** The container of the account that gets events that could not be delivered. Undefined: these
   *  events are only counted. */
  readonly deadLetterContainer?: string | undefined;
  readonly maxDeliveryAttempts: number;
  readonly eventTimeToLiveSeconds: number;
}

/** A condition on one field of an event. */
export interface AdvancedFilter {
  readonly operatorType: string;
  /** The field: `subject`, `eventType`, or a field below `data` (`data.api`). */
  readonly key: string;
  /** Texts, numbers, ranges of numbers, or one truth value; empty for operators without values. */
  readonly values: readonly FilterValue[];
}

export type FilterValue = string | number | boolean | readonly [from: number, to: number];

export type Destination = QueueDestination | WebhookDestination;

/** A queue of this server. */
export interface QueueDestination {
  readonly type: "queue";
  /** The account of the queue; undefined: that of the subscription. */
  readonly account?: string | undefined;
  readonly queue: string;
  readonly messageTimeToLiveSeconds?: number | undefined;
}

export interface WebhookDestination {
  readonly type: "webhook";
  readonly url: string;
  readonly schema: EventSchema;
  /** The key with which each request to the webhook is signed; undefined: requests are not
   *  signed. */
  readonly secret?: string | undefined;
}

/** Whether the operator has listed the URL: one that begins with a listed one, up to the end of a
 *  segment. */
export function isListedWebhook(prefixes: readonly string[], url: string): boolean {
  const { href } = new URL(url);
  return prefixes.some((text) => {
    const prefix = new URL(text).href;
    if (!href.startsWith(prefix)) return false;
    const rest = href.slice(prefix.length);
    return prefix.endsWith("/") || rest === "" || /^[/?]/.test(rest);
  });
}

export type EventSchema = "EventGridSchema" | "CloudEventSchemaV1_0";

/** Subscriptions are keyed by the name of their account, not by its id: a reset keeps them. */
export interface SubscriptionKey {
  readonly account: string;
  readonly name: string;
}

export interface SubscriptionRecord extends Subscription {
  /** New after each change, so that a process can see that its copy is outdated. */
  readonly revision: bigint;
  readonly createdAt: Ticks;
  /** Whether the configuration describes it; only the configuration can change it then. */
  readonly isConfigured?: true | undefined;
  /** Since when the configuration no longer contains it. Nothing is delivered; position and retries
   *  are kept for a while, because one start without the configuration must not lose events. */
  readonly absentSince?: Ticks | undefined;
}

export const subscriptions = defineTable<SubscriptionKey, SubscriptionRecord>({
  name: "event-subscriptions",
  tag: 0x0a,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<SubscriptionRecord>({ version: 1 }),
  owner: "store",
  lifetime: "durable",
  role: "record",
  // Not archived as records: an archive has subscriptions in the frame of their account.
  isArchived: false,
});

/** The progress of a subscription. Stored apart from its record, because it changes with each batch
 *  of deliveries. */
export interface SubscriptionState extends DeliveryCounts {
  /** Id of the account that `position` belongs to. After a reset the account has another id. */
  readonly accountId: bigint;
  /** All events up to this position are delivered, stored as retries, or do not match. */
  readonly position: LogPosition;
  readonly retries: number;
  /** Queue destinations: the time by which the last message is ordered. Messages of the next
   *  transaction get later times, even if store time has hardly advanced. */
  readonly lastMessageAt?: Ticks | undefined;
  /** Whether the delivery is paused: events wait in the log. Kept here, so that a replaced or
   *  configured subscription stays paused. */
  readonly isPaused?: true | undefined;
  /** The latest failed deliveries, newest first, at most `failuresKeptMax`: the admin API shows
   *  them. */
  readonly failures: readonly DeliveryFailure[];
}

/** Counters since the subscription was created: events by final result, and failed attempts. */
interface DeliveryCounts {
  readonly delivered: number;
  /** Failed attempts to deliver; an event may have several. */
  readonly failed: number;
  readonly deadLettered: number;
  /** Events that could not be delivered and were dropped, because the subscription has no
   *  dead-letter container. */
  readonly dropped: number;
  /** Number of events that were removed from the log before they could be delivered. */
  readonly missed: number;
}

export interface DeliveryFailure {
  readonly at: Ticks;
  readonly subject: string;
  readonly reason: string;
}

export const failuresKeptMax = 10;

export const subscriptionStates = defineTable<SubscriptionKey, SubscriptionState>({
  name: "event-subscription-states",
  tag: 0x0b,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<SubscriptionState>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** An event whose delivery has failed, or that must wait because delivery of an earlier event of
 *  the same subject has failed. */
export interface RetryRecord {
  readonly event: EventRecord;
  /** Failed attempts to deliver the event; 0 if it waits behind an earlier event of the same
   *  subject. */
  readonly attempts: number;
  readonly nextAt: Ticks;
  readonly lastFailure?: string | undefined;
  readonly lastStatus?: number | undefined;
  readonly lastAttemptAt?: Ticks | undefined;
}

interface RetryKey extends SubscriptionKey {
  readonly position: LogPosition;
}

/** The retries of a subscription, in the order of the log. */
export const eventRetries = defineTable<RetryKey, RetryRecord>({
  name: "event-retries",
  tag: 0x0c,
  key: ({ account, name, position }) => [account, name, position.sequence, position.number],
  codec: recordCodec<RetryRecord>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** Most retries of a subscription, which are also kept in memory. If there are as many, its
 *  position does not advance: further events stay in the log. */
export const retriesMax = 10_000;

export const subscriptionTables: readonly AnyTable[] = [
  anyTable(subscriptions),
  anyTable(subscriptionStates),
  anyTable(eventRetries),
];

export function retryPosition(key: Uint8Array): LogPosition {
  const [, , sequence, number] = eventRetries.parts(key);
  return { sequence: Number(sequence), number: Number(number) };
}

export interface NamedSubscription extends SubscriptionKey {
  readonly record: SubscriptionRecord;
}

/** The subscriptions of an account; undefined: of all accounts. */
export async function readSubscriptions(
  view: View,
  account?: string,
): Promise<readonly NamedSubscription[]> {
  const found = await readRecords(view, subscriptions, account === undefined ? [] : [account]);
  return found.map(({ parts, record }) => {
    const [owner, name] = parts.map(String) as [string, string];
    return { account: owner, name, record };
  });
}

export function readState(
  view: Pick<View, "get">,
  key: SubscriptionKey,
): Promise<SubscriptionState | undefined> {
  return readRecord(view, subscriptionStates, key);
}
