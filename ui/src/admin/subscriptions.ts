import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { SubscriptionView as Subscription } from "../../../src/admin/views/subscriptions.ts";

export type {
  SubscriptionView as Subscription,
  WebhookView,
} from "../../../src/admin/views/subscriptions.ts";

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
