import { faultStatus, type ConditionName, type Fault } from "../../protocol/faults.ts";
import type { LeaseAction } from "../../protocol/lease-action.ts";
import type { Lease, LeaseKind } from "../../protocol/lease.ts";
import type { Operation } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignedName } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Rule } from "../../operation/check.ts";
import type { Call, Outcome } from "../../operation/execute.ts";
import { TransactionRefused } from "../../operation/transaction-refused.ts";
import type { ObservedRequest } from "../../http/observer.ts";
import type { WireRequest } from "../../http/wire.ts";

/** What is kept of a request: no body, no record, and nothing that was not there already. How it
 *  reads is worked out only for those who look. */
export interface FeedEvent {
  readonly kind: "refused" | "lease" | "change";
  readonly at: Ticks;
  readonly requestId: string;
  readonly service: ServiceName;
  readonly operation: string;
  readonly method: string;
  readonly account: string;
  readonly place: SignedName;
  readonly status: number;
  readonly etag: Ticks | undefined;
  readonly principal: string;
  readonly address: string;
  readonly agent: string | undefined;
  readonly refused: FeedRefusal | undefined;
  readonly lease: SeenLease | undefined;
}

export interface FeedRefusal {
  /** Undefined for "not modified". */
  readonly fault: Fault | undefined;
  readonly rule: Rule | "request";
  readonly now: Ticks | undefined;
  readonly unmet: ConditionName | undefined;
  /** What the header that was not met said. */
  readonly asked: string | undefined;
  readonly etag: Ticks | undefined;
  readonly lease: Lease | undefined;
  /** The lease id that the request named. */
  readonly given: string | undefined;
  readonly isAboutLease: boolean;
}

export interface SeenLease {
  readonly kind: LeaseKind;
  readonly action: LeaseAction;
  readonly id: string | undefined;
  readonly timeSeconds: string | undefined;
}

interface One {
  readonly request: WireRequest;
  readonly operation: Operation | undefined;
  readonly call: Call | undefined;
  readonly outcome: Outcome | undefined;
  readonly fault: Fault | undefined;
  readonly status: number;
}

/** What of a request is worth telling: nothing, one thing, or one for each of its parts. */
export function feedEventsOf(observed: ObservedRequest, tell: (seen: FeedEvent) => void): void {
  const { context, call, parts, result, reply } = observed;
  const { request, operation } = context;
  if (parts !== undefined) return seenInParts(observed, tell);
  const outcome = result.ok ? result.value : undefined;
  const refusal = outcome?.kind === "fault" ? outcome.fault : undefined;
  const fault = result.ok ? refusal : result.fault;
  const { status } = reply;
  const seen = seenOf(observed, { request, operation, call, outcome, fault, status });
  if (seen !== undefined) tell(seen);
}

function seenInParts(observed: ObservedRequest, tell: (seen: FeedEvent) => void): void {
  const { parts } = observed;
  if (parts === undefined) return;
  const { contexts, calls, outcomes } = parts;
  const tellPart = (index: number, outcome: Outcome): void => {
    const call = calls[index];
    const { request } = contexts[index] ?? observed.context;
    const fault = outcome.kind === "fault" ? outcome.fault : undefined;
    const status = outcome.kind === "reply" ? outcome.status : conflict(fault);
    const one = { request, operation: call?.operation, call, outcome, fault, status };
    const seen = seenOf(observed, one);
    if (seen !== undefined) tell(seen);
  };
  if (outcomes instanceof TransactionRefused) tellPart(outcomes.index, outcomes.outcome);
  else for (const [index, outcome] of outcomes.entries()) tellPart(index, outcome);
}

function conflict(fault: Fault | undefined): number {
  return fault === undefined ? 304 : faultStatus(fault);
}

function kindOf({ status, operation }: One): FeedEvent["kind"] | undefined {
  if (status === 412 || status === 409 || status === 304) return "refused";
  if (status >= 300 || operation?.effect !== "writes") return undefined;
  return operation.lease === "action" ? "lease" : "change";
}

function seenOf({ http, context, reply }: ObservedRequest, one: One): FeedEvent | undefined {
  const kind = kindOf(one);
  if (kind === undefined) return undefined;
  const { request, operation, call, outcome, status } = one;
  return {
    kind,
    at: http.clock.wall(),
    requestId: context.requestId,
    service: http.service.name,
    operation: operation?.name ?? "",
    method: request.method,
    account: call?.account ?? "",
    place: call === undefined ? nowhere : http.service.signedName(call.address),
    status,
    etag: outcome?.kind === "reply" ? outcome.etag : undefined,
    principal: context.principal?.kind ?? "anonymous",
    address: request.remoteAddress,
    agent: request.headers["user-agent"],
    refused: kind === "refused" ? refusalOf(one) : undefined,
    lease: kind === "lease" && call !== undefined ? leaseOf(call, reply.headers) : undefined,
  };
}

const nowhere: SignedName = {};

function refusalOf({ request, call, outcome, fault }: One): FeedRefusal {
  const refusal = outcome === undefined || outcome.kind === "reply" ? undefined : outcome.refusal;
  const action = call?.operation.lease === "action" ? actionOf(call) : undefined;
  const unmet = refusal?.unmet;
  return {
    fault,
    rule: refusal?.rule ?? "request",
    now: refusal?.now,
    unmet,
    asked: unmet === undefined ? undefined : askedBy(request, unmet),
    etag: refusal?.target?.etag,
    lease: refusal?.target?.lease,
    given: call?.leaseId ?? idIn(action),
    isAboutLease:
      refusal?.rule === "lease" || (action !== undefined && refusal?.rule === "decision"),
  };
}

/** The tag operations spell the same headers in another way. */
function askedBy({ headers }: WireRequest, unmet: ConditionName): string | undefined {
  const name = unmet.toLowerCase();
  return headers[name] ?? headers[`x-ms-blob-${name}`];
}

function leaseOf(call: Call, headers: Readonly<Record<string, string>>): SeenLease | undefined {
  const action = actionOf(call);
  return (
    action && {
      kind: call.resource.leaseKind,
      action,
      id: headers["x-ms-lease-id"] ?? idIn(action),
      timeSeconds: headers["x-ms-lease-time"],
    }
  );
}

function actionOf({ input }: Call): LeaseAction | undefined {
  return (input as { readonly action?: LeaseAction }).action;
}

function idIn(action: LeaseAction | undefined): string | undefined {
  if (action === undefined || action.action === "break") return undefined;
  return action.action === "acquire" ? action.proposedId : action.id;
}
