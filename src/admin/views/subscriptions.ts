import { formatIso } from "../../base/dates.ts";
import type { Subscription, SubscriptionState } from "../../account/subscription.ts";
import {
  backlogCountMax,
  type SubscriptionRefusal,
  type SubscriptionResult,
  type SubscriptionStatus,
} from "../../events/subscription-manager.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, nothing, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck, wholeNumber } from "../inputs.ts";
import type { CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";

const statusByCode: Readonly<Record<SubscriptionRefusal, number>> = {
  InvalidInput: 400,
  WebhookNotListed: 403,
  WebhookNotValidated: 400,
  AccountNotFound: 404,
  SubscriptionNotFound: 404,
  SubscriptionIsConfigured: 409,
  TooManySubscriptions: 409,
};

const settledSecondsMax = 300;
const settledSecondsDefault = 30;

const path = "/admin/v1/subscriptions";
const onePath = `${path}/:account/:name`;

/** Routes of event subscriptions. An account key sees those of its account; only the admin token
 *  changes them, as it does accounts. */
export function subscriptionRoutes(context: ViewContext): readonly Route[] {
  const { subscriptions } = context;
  return [
    {
      method: "GET",
      path,
      access: "account",
      query: { account: optional(textCheck) },
      answer: async (request) => {
        const only = request.query.get("account") ?? "";
        const isWanted = (name: string) => only === "" || name === only;
        const found = await subscriptions.list((name) => isWanted(name) && covers(request, name));
        return json({ subscriptions: found.map(renderSubscription) });
      },
    },
    {
      method: "GET",
      path: onePath,
      access: "account",
      query: {},
      answer: async (request, { account = "", name = "" }) => {
        if (!covers(request, account)) return noAccount(account);
        const found = await subscriptions.get({ account, name });
        return found === undefined ? noSubscription(name) : json(renderSubscription(found));
      },
    },
    ...changeRoutes(context),
    {
      method: "POST",
      path: "/admin/v1/events/settled",
      access: "account",
      query: {},
      body: { timeoutSeconds: optional(wholeNumber({ min: 0, max: settledSecondsMax })) },
      answer: (request) => answerSettled(subscriptions, request),
    },
  ];
}

/** Whether the caller administers the account; the admin token also one that is not served. */
function covers({ accounts, grant }: CheckedRequest, account: string): boolean {
  return grant.kind === "server" || accounts.get(account) !== undefined;
}

function changeRoutes({ subscriptions }: ViewContext): readonly Route[] {
  return [
    {
      method: "PUT",
      path: onePath,
      access: "server",
      query: {},
      answer: async ({ body }, { account = "", name = "" }) => {
        const result = await subscriptions.put({ account, name }, body);
        if (!result.ok) return refused(result);
        const stored = await subscriptions.get({ account, name });
        const status = result.isNew ? 201 : 200;
        return stored === undefined ? nothing : json(renderSubscription(stored), status);
      },
    },
    {
      method: "DELETE",
      path: onePath,
      access: "server",
      query: {},
      answer: async (_, { account = "", name = "" }) => {
        const result = await subscriptions.delete({ account, name });
        return result.ok ? nothing : refused(result);
      },
    },
  ];
}

async function answerSettled(
  subscriptions: ViewContext["subscriptions"],
  { body }: CheckedRequest,
): Promise<AdminResponse> {
  const seconds = (body["timeoutSeconds"] ?? settledSecondsDefault) as number;
  return json({ settled: await subscriptions.settled(seconds * 1000) });
}

function refused({ code, message }: Extract<SubscriptionResult, { ok: false }>): AdminResponse {
  return refuse(statusByCode[code], code, message);
}

function noSubscription(name: string): AdminResponse {
  return refuse(404, "SubscriptionNotFound", `no subscription ${JSON.stringify(name)}`);
}

/** A subscription with its progress, without its secret and the query of its URL, which often
 *  contains a key. */
function renderSubscription({ account, name, record, state, backlog }: SubscriptionStatus): object {
  const { revision: _revision, createdAt, isConfigured = false, destination, ...rest } = record;
  const progress: Partial<SubscriptionState> = state ?? {};
  const { failures = [], retries, delivered, failed, deadLettered, dropped, missed } = progress;
  return {
    account,
    name,
    source: isConfigured ? "configured" : "stored",
    createdAt: formatIso(createdAt),
    ...rest,
    destination: renderDestination(destination),
    backlog,
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

function renderDestination(destination: Subscription["destination"]): object {
  if (destination.type === "queue") return destination;
  const { type, url, schema, secret } = destination;
  const shown = new URL(url);
  const names = new Set(shown.searchParams.keys());
  for (const name of names) {
    if (name !== "functionName") shown.searchParams.set(name, "…");
  }
  return { type, url: decodeURI(shown.href), schema, isSigned: secret !== undefined };
}
