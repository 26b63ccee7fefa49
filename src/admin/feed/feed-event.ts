import { faultStatus, type ConditionName, type Fault } from "../../protocol/faults.ts";
import type { LeaseAction } from "../../protocol/lease-action.ts";
import type { Lease, LeaseKind } from "../../protocol/lease.ts";
import type { Operation } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignedName } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Rule } from "../../operation/check.ts";
import type { Call, Outcome } from "../../operation/execute.ts";
import { TransactionRejected } from "../../operation/transaction-rejected.ts";
import type { ObservedRequest } from "../../http/observer.ts";
import type { WireRequest } from "../../http/wire.ts";

/** A request as the event feed keeps it in memory: references to existing objects, without body and
 *  record. It is rendered only when a subscriber or timeline needs it. */
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
  readonly lease: FeedLease | undefined;
}

/** Why a request was rejected (304, 409 or 412). */
export interface FeedRefusal {
  /** Undefined for 304 Not Modified. */
  readonly fault: Fault | undefined;
  readonly rule: Rule | "request";
  readonly now: Ticks | undefined;
  readonly unmet: ConditionName | undefined;
  /** The value of the conditional header that failed; undefined if no condition failed. */
  readonly asked: string | undefined;
  readonly etag: Ticks | undefined;
  readonly lease: Lease | undefined;
  /** The lease id in the request. */
  readonly given: string | undefined;
  readonly isAboutLease: boolean;
}

/** What a request did to a lease. */
export interface FeedLease {
  readonly kind: LeaseKind;
  readonly action: LeaseAction;
  readonly id: string | undefined;
  readonly timeSeconds: string | undefined;
}

interface EventSource {
  readonly request: WireRequest;
  readonly operation: Operation | undefined;
  readonly call: Call | undefined;
  readonly outcome: Outcome | undefined;
  readonly fault: Fault | undefined;
  readonly status: number;
}

/** Reports the events of a request: none, one, or one for each part of a batch or transaction. */
export function feedEventsOf(observed: ObservedRequest, emit: (event: FeedEvent) => void): void {
  const { context, call, parts, result, reply } = observed;
  const { request, operation } = context;
  if (parts !== undefined) return feedEventsOfParts(observed, emit);
  const outcome = result.ok ? result.value : undefined;
  const refusal = outcome?.kind === "fault" ? outcome.fault : undefined;
  const fault = result.ok ? refusal : result.fault;
  const { status } = reply;
  const event = feedEventOf(observed, { request, operation, call, outcome, fault, status });
  if (event !== undefined) emit(event);
}

function feedEventsOfParts(observed: ObservedRequest, emit: (event: FeedEvent) => void): void {
  const { parts } = observed;
  if (parts === undefined) return;
  const { contexts, calls, outcomes } = parts;
  const emitPart = (index: number, outcome: Outcome): void => {
    const call = calls[index];
    const { request } = contexts[index] ?? observed.context;
    const fault = outcome.kind === "fault" ? outcome.fault : undefined;
    const status = outcome.kind === "reply" ? outcome.status : conflict(fault);
    const one = { request, operation: call?.operation, call, outcome, fault, status };
    const event = feedEventOf(observed, one);
    if (event !== undefined) emit(event);
  };
  if (outcomes instanceof TransactionRejected) emitPart(outcomes.index, outcomes.outcome);
  else for (const [index, outcome] of outcomes.entries()) emitPart(index, outcome);
}

function conflict(fault: Fault | undefined): number {
  return fault === undefined ? 304 : faultStatus(fault);
}

function kindOf({ status, operation }: EventSource): FeedEvent["kind"] | undefined {
  if (status === 412 || status === 409 || status === 304) return "refused";
  if (status >= 300 || operation?.effect !== "writes") return undefined;
  return operation.lease === "action" ? "lease" : "change";
}

function feedEventOf(
  { http, context, reply }: ObservedRequest,
  one: EventSource,
): FeedEvent | undefined {
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
    place: call === undefined ? noResource : http.service.signedName(call.address),
    status,
    etag: outcome?.kind === "reply" ? outcome.etag : undefined,
    principal: context.principal?.kind ?? "anonymous",
    address: request.remoteAddress,
    agent: request.headers["user-agent"],
    refused: kind === "refused" ? refusalOf(one) : undefined,
    lease: kind === "lease" && call !== undefined ? leaseOf(call, reply.headers) : undefined,
  };
}

const noResource: SignedName = {};

function refusalOf({ request, call, outcome, fault }: EventSource): FeedRefusal {
  const refusal = outcome === undefined || outcome.kind === "reply" ? undefined : outcome.rejection;
  const action = call?.operation.lease === "action" ? actionOf(call) : undefined;
  const unmet = refusal?.failedCondition;
  return {
    fault,
    rule: refusal?.rule ?? "request",
    now: refusal?.now,
    unmet,
    asked: unmet === undefined ? undefined : conditionValue(request, unmet),
    etag: refusal?.target?.etag,
    lease: refusal?.target?.lease,
    given: call?.leaseId ?? idIn(action),
    isAboutLease:
      refusal?.rule === "lease" || (action !== undefined && refusal?.rule === "decision"),
  };
}

/** The value of the conditional header that failed. Tag operations have their own header names. */
function conditionValue({ headers }: WireRequest, unmet: ConditionName): string | undefined {
  const name = unmet.toLowerCase();
  return headers[name] ?? headers[`x-ms-blob-${name}`];
}

function leaseOf(call: Call, headers: Readonly<Record<string, string>>): FeedLease | undefined {
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
