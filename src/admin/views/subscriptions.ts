import { formatIso } from "../../base/dates.ts";
import type { ChangeResult } from "../../account/change-result.ts";
import type { SubscriptionChange } from "../../account/subscription-changes.ts";
import { inputOf } from "../../account/parse-subscription.ts";
import type {
  Subscription,
  SubscriptionKey,
  SubscriptionState,
} from "../../account/subscription.ts";
import { subscriptionAction } from "../../protocol/roles/role.ts";
import {
  backlogCountMax,
  changedInput,
  type SubscriptionStatus,
} from "../../events/subscription-manager.ts";
import {
  changeRefused,
  json,
  noAccount,
  nothing,
  refuse,
  type AdminResponse,
} from "../admin-response.ts";
import { optional, textCheck, wholeNumber } from "../inputs.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route, type PathValues } from "../routes.ts";
import { mayUseSubscriptions } from "../security/grant.ts";

/** Routes of event subscriptions. An account key sees those of its account; the admin token changes
 *  them, and principals whose roles permit it. */

/** How long `events/settled` waits for the delivery of all events, as tests do. */
const settledSecondsMax = 300;
const settledSecondsDefault = 30;

const settledChecks = {
  timeoutSeconds: optional(wholeNumber({ min: 0, max: settledSecondsMax })),
};

export const subscriptionRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/subscriptions", "principal", list, {
    query: { account: optional(textCheck) },
  }),
  declareRoute("GET /admin/v1/subscriptions/:account/:name", "principal", show),
  declareRoute("PUT /admin/v1/subscriptions/:account/:name", "principal", put),
  declareRoute("PATCH /admin/v1/subscriptions/:account/:name", "principal", change),
  declareRoute("DELETE /admin/v1/subscriptions/:account/:name", "principal", remove),
  declareRoute("POST /admin/v1/events/settled", "account", answerSettled, { body: settledChecks }),
];

async function list(request: CheckedRequest): Promise<AdminResponse> {
  const only = request.query.get("account") ?? "";
  if (only !== "" && request.accounts.get(only) === undefined) return noAccount(only);
  const isWanted = (name: string): boolean => only === "" || name === only;
  const found = await request.context.subscriptions.list(
    (name) => isWanted(name) && may(request, name, "read"),
  );
  return json({ subscriptions: found.map(renderSubscription) });
}

async function show(
  request: CheckedRequest,
  { account = "", name = "" }: PathValues,
): Promise<AdminResponse> {
  const refusal = refuseAction(request, account, "read");
  if (refusal !== undefined) return refusal;
  const found = await request.context.subscriptions.get({ account, name });
  return found === undefined ? noSubscription(name) : json(renderSubscription(found));
}

type Action = "read" | "write" | "delete";

function may({ accounts, grant }: CheckedRequest, account: string, action: Action): boolean {
  return mayUseSubscriptions(accounts, grant, { account, action });
}

/** Rejects a caller that may not do `action` with the subscriptions of an account. */
function refuseAction(
  request: CheckedRequest,
  account: string,
  action: Action,
): AdminResponse | undefined {
  if (may(request, account, action)) return undefined;
  if (request.accounts.get(account) === undefined) return noAccount(account);
  const isPrincipal = request.grant.kind === "principal";
  return isPrincipal
    ? refuse(403, "RoleRequired", `no role grants ${subscriptionAction(action)}`)
    : refuse(403, "AdminTokenRequired", "an account key does not suffice");
}

/** Rejects a write of a subscription by a caller that lacks the action. The server itself puts the
 *  messages into the destination queue, so a principal needs the action in the account of that
 *  queue, too. */
function refuseWrite(
  request: CheckedRequest,
  account: string,
  destination: unknown,
): AdminResponse | undefined {
  const named = (destination as { readonly account?: unknown } | null | undefined)?.account;
  const target = typeof named === "string" ? named : account;
  return (
    refuseAction(request, account, "write") ??
    (target === account ? undefined : refuseAction(request, target, "write"))
  );
}

async function put(
  request: CheckedRequest,
  { account = "", name = "" }: PathValues,
): Promise<AdminResponse> {
  const key = { account, name };
  const { subscriptions } = request.context;
  const refusal = refuseWrite(request, account, request.body["destination"]);
  return refusal ?? changed(request, key, await subscriptions.put(key, request.body));
}

async function change(
  request: CheckedRequest,
  { account = "", name = "" }: PathValues,
): Promise<AdminResponse> {
  const key = { account, name };
  const { subscriptions } = request.context;
  const refusal = refuseAction(request, account, "write");
  if (refusal !== undefined) return refusal;
  const { isPaused, ...fields } = request.body;
  if (isPaused !== undefined && typeof isPaused !== "boolean") {
    return refuse(400, "InvalidInput", '"isPaused" must be true or false');
  }
  const stored = await subscriptions.get(key);
  if (stored === undefined) return noSubscription(name);
  // Letting other events into a queue of another account is as good as a new destination.
  const { destination } = changedInput(inputOf(stored.record), fields);
  const isPauseOnly = Object.keys(fields).length === 0;
  const foreign = isPauseOnly ? undefined : refuseWrite(request, account, destination);
  if (foreign !== undefined) return foreign;
  return changed(
    request,
    key,
    await subscriptions.change(key, { ...fields, isPaused }, stored.record),
  );
}

async function changed(
  { context: { subscriptions } }: CheckedRequest,
  key: SubscriptionKey,
  result: ChangeResult<SubscriptionChange>,
): Promise<AdminResponse> {
  if (!result.ok) return changeRefused(result);
  const stored = await subscriptions.get(key);
  const status = result.value.isNew ? 201 : 200;
  return stored === undefined ? nothing : json(renderSubscription(stored), status);
}

async function remove(
  request: CheckedRequest,
  { account = "", name = "" }: PathValues,
): Promise<AdminResponse> {
  const refusal = refuseAction(request, account, "delete");
  if (refusal !== undefined) return refusal;
  const result = await request.context.subscriptions.delete({ account, name });
  return result.ok ? nothing : changeRefused(result);
}

async function answerSettled(request: CheckedRequest): Promise<AdminResponse> {
  const seconds = (request.body["timeoutSeconds"] ?? settledSecondsDefault) as number;
  const waiting = await request.context.subscriptions.settled(seconds * 1000);
  const isShown = (name: string): boolean => may(request, name.split("/", 1)[0] ?? "", "read");
  return json({ settled: waiting.length === 0, waiting: waiting.filter(isShown) });
}

function noSubscription(name: string): AdminResponse {
  return refuse(404, "SubscriptionNotFound", `no subscription ${JSON.stringify(name)}`);
}

/** A subscription to the event log of an account, with its progress. */
export type SubscriptionView = ReturnType<typeof renderSubscription>;
export type WebhookView = Extract<SubscriptionView["destination"], { readonly type: "webhook" }>;

/** Renders a subscription without its secret and the query of its URL, which often contains a key.
 *  The counts are undefined if another request has just deleted the subscription. */
function renderSubscription({ account, name, record, state, backlog }: SubscriptionStatus) {
  const { createdAt, absentSince, isConfigured = false } = record;
  const progress: Partial<SubscriptionState> = state ?? {};
  const { failures = [], isPaused, retries, delivered, failed } = progress;
  const { deadLettered, dropped, missed } = progress;
  return {
    account,
    name,
    source: isConfigured ? ("configured" as const) : ("stored" as const),
    createdAt: formatIso(createdAt),
    // Since when the configuration no longer contains it; nothing is delivered.
    ...(absentSince !== undefined && { absentSince: formatIso(absentSince) }),
    ...inputOf(record),
    destination: renderDestination(record.destination),
    isPaused: isPaused === true,
    backlog,
    // Whether the log has more events than are counted.
    isBacklogCut: backlog >= backlogCountMax,
    retries,
    delivered,
    failed,
    deadLettered,
    dropped,
    missed,
    failures: failures.map(({ at, ...failure }) => ({ at: formatIso(at), ...failure })),
  };
}

function renderDestination(destination: Subscription["destination"]) {
  if (destination.type === "queue") return destination;
  const { type, url, schema, secret } = destination;
  const { origin, pathname, searchParams } = new URL(url);
  const names = searchParams.getAll("functionName").map((name) => `functionName=${name}`);
  const shown = searchParams.size > names.length ? [...names, "…"] : names;
  const query = shown.length === 0 ? "" : `?${shown.join("&")}`;
  return { type, url: origin + pathname + query, schema, isSigned: secret !== undefined };
}
