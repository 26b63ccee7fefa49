import type { Result } from "../result.ts";
import { admin } from "./call.ts";

/** A subscription to the event log of an account, with its progress. */
export interface Subscription {
  readonly account: string;
  readonly name: string;
  readonly source: "configured" | "stored";
  readonly createdAt: string;
  /** Since when the configuration no longer contains it; nothing is delivered. */
  readonly absentSince?: string;
  readonly eventTypes?: readonly string[];
  readonly subjectBeginsWith?: string;
  readonly subjectEndsWith?: string;
  readonly isSubjectCaseSensitive?: boolean;
  readonly advancedFilters?: readonly object[];
  readonly destination: QueueDestination | WebhookDestination;
  readonly deadLetterContainer?: string;
  readonly maxDeliveryAttempts: number;
  readonly eventTimeToLiveSeconds: number;
  readonly isPaused: boolean;
  readonly backlog: number;
  readonly isBacklogCut: boolean;
  readonly retries?: number;
  readonly delivered?: number;
  readonly failed?: number;
  readonly deadLettered?: number;
  readonly dropped?: number;
  readonly missed?: number;
  readonly failures: readonly DeliveryFailure[];
}

interface QueueDestination {
  readonly type: "queue";
  readonly account?: string;
  readonly queue: string;
}

export interface WebhookDestination {
  readonly type: "webhook";
  readonly url: string;
  readonly schema: string;
  readonly isSigned: boolean;
}

interface DeliveryFailure {
  readonly at: string;
  readonly subject: string;
  readonly reason: string;
}

type Place = Pick<Subscription, "account" | "name">;

const pathOf = ({ account, name }: Place): string =>
  `subscriptions/${encodeURIComponent(account)}/${encodeURIComponent(name)}`;

export const getSubscriptions = (
  account: string,
  signal?: AbortSignal,
): Promise<Result<{ readonly subscriptions: readonly Subscription[] }>> =>
  admin("subscriptions", { query: { account }, signal });

export const createSubscription = (place: Place, definition: object): Promise<Result<unknown>> =>
  admin(pathOf(place), { method: "PUT", body: definition });

/** Changes the given fields; null removes one. */
export const changeSubscription = (place: Place, change: object): Promise<Result<unknown>> =>
  admin(pathOf(place), { method: "PATCH", body: change });

export const deleteSubscription = (place: Place): Promise<Result<unknown>> =>
  admin(pathOf(place), { method: "DELETE" });

/** The event log of an account; `after` is an id of the log. */
export const eventStreamUrl = (account: string, after: string): string =>
  `/admin/v1/events?${new URLSearchParams({ account, after }).toString()}`;
