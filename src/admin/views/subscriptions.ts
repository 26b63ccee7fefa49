import { formatIso } from "../../base/dates.ts";
import type {
  Subscription,
  SubscriptionKey,
  SubscriptionState,
} from "../../account/subscription.ts";
import { subscriptionAction } from "../../protocol/roles/role.ts";
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
import { mayUseSubscriptions } from "../security/grant.ts";

const statusByCode: Readonly<Record<SubscriptionRefusal, number>> = {
  InvalidInput: 400,
  WebhookNotListed: 403,
  WebhookNotValidated: 400,
  AccountNotFound: 404,
  SubscriptionNotFound: 404,
  SubscriptionIsConfigured: 409,
  SubscriptionChanged: 409,
  TooManySubscriptions: 409,
};

const settledSecondsMax = 300;
const settledSecondsDefault = 30;

const path = "/admin/v1/subscriptions";
const onePath = `${path}/:account/:name`;

/** Routes of event subscriptions. An account key sees those of its account; the admin token changes
 *  them, and principals whose roles permit it. */
export function subscriptionRoutes(context: ViewContext): readonly Route[] {
  const { subscriptions } = context;
  return [
    {
      method: "GET",
      path,
      access: "principal",
      query: { account: optional(textCheck) },
      answer: async (request) => {
        const only = request.query.get("account") ?? "";
        const isWanted = (name: string) => only === "" || name === only;
        const found = await subscriptions.list(
          (name) => isWanted(name) && may(request, name, "read"),
        );
        return json({ subscriptions: found.map(renderSubscription) });
      },
    },
    {
      method: "GET",
      path: onePath,
      access: "principal",
      query: {},
      answer: async (request, { account = "", name = "" }) => {
        const refusal = refuseAction(request, account, "read");
        if (refusal !== undefined) return refusal;
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

type Action = "read" | "write" | "delete";

function may({ accounts, grant }: CheckedRequest, account: string, action: Action): boolean {
  return mayUseSubscriptions(accounts, grant, { account, action });
}

/** The rejection of a caller that may not do this with the subscriptions of an account; undefined
 *  if it may. */
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

/** As `refuseAction`; the queue of a principal must be in an account in which it may do the same,
 *  because the server puts the messages. */
function refuseWrite(request: CheckedRequest, account: string): AdminResponse | undefined {
  const { destination } = request.body as { readonly destination?: { readonly account?: unknown } };
  const named = destination?.account;
  const target = typeof named === "string" ? named : account;
  return (
    refuseAction(request, account, "write") ??
    (target === account ? undefined : refuseAction(request, target, "write"))
  );
}

function changeRoutes({ subscriptions }: ViewContext): readonly Route[] {
  const changed = async (key: SubscriptionKey, result: SubscriptionResult) => {
    if (!result.ok) return refused(result);
    const stored = await subscriptions.get(key);
    const status = result.isNew ? 201 : 200;
    return stored === undefined ? nothing : json(renderSubscription(stored), status);
  };
  return [
    {
      method: "PUT",
      path: onePath,
      access: "principal",
      query: {},
      answer: async (request, { account = "", name = "" }) => {
        const key = { account, name };
        const refusal = refuseWrite(request, account);
        return refusal ?? changed(key, await subscriptions.put(key, request.body));
      },
    },
    {
      method: "PATCH",
      path: onePath,
      access: "principal",
      query: {},
      answer: async (request, { account = "", name = "" }) => {
        const key = { account, name };
        const refusal = refuseWrite(request, account);
        if (refusal !== undefined) return refusal;
        const { isPaused, ...fields } = request.body;
        if (isPaused !== undefined && typeof isPaused !== "boolean") {
          return refuse(400, "InvalidInput", '"isPaused" must be true or false');
        }
        return changed(key, await subscriptions.change(key, { ...fields, isPaused }));
      },
    },
    {
      method: "DELETE",
      path: onePath,
      access: "principal",
      query: {},
      answer: async (request, { account = "", name = "" }) => {
        const refusal = refuseAction(request, account, "delete");
        if (refusal !== undefined) return refusal;
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
  const { failures = [], isPaused, retries, delivered, failed } = progress;
  const { deadLettered, dropped, missed } = progress;
  return {
    account,
    name,
    source: isConfigured ? "configured" : "stored",
    createdAt: formatIso(createdAt),
    ...rest,
    destination: renderDestination(destination),
    isPaused: isPaused === true,
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
