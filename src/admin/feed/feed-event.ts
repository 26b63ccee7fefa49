import { faultStatus, type ConditionName, type Fault } from "../../protocol/faults.ts";
import type { LeaseAction, Lease, LeaseKind } from "../../protocol/lease.ts";
import type { Operation } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Service, SignedName } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Rule } from "../../operation/check.ts";
import { TransactionRejected, type Call, type Outcome } from "../../operation/execute.ts";
import { isRoleCaller, type ActionNeed } from "../../protocol/roles/role.ts";
import type { Principal } from "../../protocol/principal.ts";
import { missingActions } from "../../http/auth/authorise-call.ts";
import type { FileChange } from "../../file/file-change.ts";
import type { ObservedRequest } from "../../http/http-service.ts";
import type { RequestContext } from "../../http/request/request-context.ts";
import type { WireRequest } from "../../http/wire.ts";

/** The events of the request feed, which the explorer shows live and as timelines of objects, and
 *  the structures that keep them in memory: `WatchedObjects`, `SpanHistory` and `Ring`. */

/** A request as the request feed keeps it in memory. It has references to objects that exist
 *  anyway, without body and record; it is rendered only when a subscriber or a timeline needs it,
 *  because an event is made for every change. */
export interface FeedEvent {
  readonly kind: "refused" | "lease" | "change" | "read";
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
  /** Object id of a caller with a bearer token or a user delegation SAS. */
  readonly objectId: string | undefined;
  readonly address: string;
  readonly agent: string | undefined;
  readonly refused: FeedRefusal | undefined;
  readonly lease: FeedLease | undefined;
}

/** Why a request was rejected (304, 409, 412, or 403 for lack of a role). */
export interface FeedRefusal {
  /** Undefined for a response 304 Not Modified, which is no error. */
  readonly fault: Fault | undefined;
  readonly rule: Rule | "request" | "role";
  readonly now: Ticks | undefined;
  readonly unmet: ConditionName | undefined;
  /** The value of the conditional header that failed; undefined if no condition failed. */
  readonly asked: string | undefined;
  /** Whether the request was rejected because of a record, or because there was none. Undefined if
   *  it was rejected before the record was read. */
  readonly found: boolean | undefined;
  readonly etag: Ticks | undefined;
  readonly lease: Lease | undefined;
  readonly given: string | undefined;
  readonly isAboutLease: boolean;
  /** Lists of actions that the caller lacks: any list would suffice. Undefined if none is
   *  missing. */
  readonly missing: ActionNeed | undefined;
}

/** What a request did to a lease. */
interface FeedLease {
  readonly kind: LeaseKind;
  readonly action: LeaseAction;
  readonly id: string | undefined;
  readonly timeSeconds: string | undefined;
}

/** What an event is made from: a request, or one part of a batch or transaction. */
interface EventSource {
  /** What the pipeline has learned of the request or part until its response. */
  readonly context: RequestContext;
  readonly operation: Operation | undefined;
  readonly call: Call | undefined;
  readonly outcome: Outcome | undefined;
  readonly fault: Fault | undefined;
  readonly status: number;
}

interface FeedSink {
  readonly emit: (event: FeedEvent) => void;
  /** The objects whose reads are events, too: those with an open timeline. */
  readonly watched: WatchedObjects;
}

/** Reports the events of a request: none, one, or one for each part of a batch or transaction. */
export function feedEventsOf(observed: ObservedRequest, sink: FeedSink): void {
  eachSource(observed, (one) => emitEvent(observed, one, sink));
}

/** A change of the state of an object for which later requests are rejected, as traces
 *  (`server/telemetry`) need it: a write that gives the object a new ETag, a deletion of an object
 *  that requests have conditions for, or a lease action. It has the address of the object rather
 *  than its name, which costs more than the rest and which most writes do not need. */
export interface ObjectChange {
  readonly kind: "lease" | "write" | "deletion";
  readonly requestId: string;
  /** The new ETag of a write. */
  readonly etag: Ticks | undefined;
  readonly service: Service;
  readonly account: string;
  readonly address: Call["address"] | undefined;
}

/** Reports the successful changes of a request: none, one, or one for each part of a batch. */
export function objectChangesOf(
  observed: ObservedRequest,
  report: (change: ObjectChange) => void,
): void {
  eachSource(observed, (one) => {
    const kind = objectChangeIn(one);
    if (kind === undefined) return;
    const { call, context, outcome } = one;
    // Fields of the context instead of the context, which refers to the body: a caller that keeps
    // changes would keep the bodies of requests in memory.
    report({
      kind,
      requestId: context.requestId,
      etag: kind === "write" && outcome?.kind === "reply" ? outcome.etag : undefined,
      service: observed.http.service,
      account: accountOf(observed, call),
      address: call?.address ?? context.address,
    });
  });
}

function objectChangeIn({ status, operation }: EventSource): ObjectChange["kind"] | undefined {
  if (status >= 300 || operation?.effect !== "writes") return undefined;
  if (operation.lease === "action") return "lease";
  if (operation.etag === "renew") return "write";
  return operation.isDeletion === true && operation.conditions !== "none" ? "deletion" : undefined;
}

export function changedObjectKey({ service, account, address }: ObjectChange): string {
  return objectKey({ service: service.name, account, place: placeOf(service, address) });
}

function accountOf({ context }: ObservedRequest, call: Call | undefined): string {
  return call?.account ?? context.location?.account ?? "";
}

function placeOf(service: Service, address: Call["address"] | undefined): SignedName {
  return address === undefined ? noResource : service.signedName(address);
}

/** Visits a request, or each part of a batch; of a rejected transaction only the failed part. */
function eachSource(observed: ObservedRequest, visit: (one: EventSource) => void): void {
  const { context, call, parts, result, reply } = observed;
  const { operation } = context;
  if (parts !== undefined) return eachPart(observed, visit);
  const outcome = result.ok ? result.value : undefined;
  const refusal = outcome?.kind === "fault" ? outcome.fault : undefined;
  const fault = result.ok ? refusal : result.fault;
  const { status } = reply;
  visit({ context, operation, call, outcome, fault, status });
}

/** The feed event of a successful change over SMB. SMB has no request ids and no ETags. */
export function fileChangeEvent(change: FileChange, at: Ticks): FeedEvent {
  const { operation, account, share, path, client } = change;
  return {
    kind: "change",
    at,
    requestId: "",
    service: "file",
    account,
    place: { name: share, path: path.join("/") },
    operation: `SMB ${operation}`,
    method: "SMB",
    status: 200,
    etag: undefined,
    principal: "smb",
    objectId: undefined,
    address: client,
    agent: undefined,
    refused: undefined,
    lease: undefined,
  };
}

function eachPart(observed: ObservedRequest, visit: (one: EventSource) => void): void {
  const { parts } = observed;
  if (parts === undefined) return;
  const { contexts, calls, outcomes } = parts;
  const emitPart = (index: number, outcome: Outcome): void => {
    const call = calls[index];
    const context = contexts[index] ?? observed.context;
    const fault = outcome.kind === "fault" ? outcome.fault : undefined;
    const status = outcome.kind === "reply" ? outcome.status : rejectedStatus(fault);
    const operation = call?.operation ?? context.operation;
    visit({ context, operation, call, outcome, fault, status });
  };
  if (outcomes instanceof TransactionRejected) emitPart(outcomes.index, outcomes.outcome);
  else for (const [index, outcome] of outcomes.entries()) emitPart(index, outcome);
}

function rejectedStatus(fault: Fault | undefined): number {
  return fault === undefined ? 304 : faultStatus(fault);
}

const rejections: ReadonlySet<number> = new Set([304, 409, 412]);

/** Undefined for a request that is no event. */
function kindOf(
  { context }: ObservedRequest,
  { status, operation, outcome }: EventSource,
  watched: WatchedObjects,
): FeedEvent["kind"] | undefined {
  if (rejections.has(status)) return "refused";
  if (status === 403) return roleCallerOf(context.principal) ? "refused" : undefined;
  if (status >= 300) return undefined;
  if (operation?.effect === "writes") return operation.lease === "action" ? "lease" : "change";
  const isRead = !watched.isEmpty && outcome?.kind === "reply" && outcome.etag !== undefined;
  return isRead ? "read" : undefined;
}

/** The caller, if roles limit its permissions; undefined for a caller with an account key. */
function roleCallerOf(principal: Principal | undefined) {
  return principal !== undefined && isRoleCaller(principal) ? principal : undefined;
}

function emitEvent(observed: ObservedRequest, one: EventSource, { emit, watched }: FeedSink): void {
  const kind = kindOf(observed, one, watched);
  if (kind === undefined) return;
  const { http, reply } = observed;
  const { context, operation, call, outcome, status } = one;
  const { request } = context;
  const address = call?.address ?? context.address;
  const service = http.service.name;
  const account = accountOf(observed, call);
  const place = placeOf(http.service, address);
  if (kind === "read" && !watched.has({ service, account, place })) return;
  const { principal } = observed.context;
  emit({
    kind,
    at: http.clock.wall(),
    requestId: context.requestId,
    // The fields are named one by one: spreading an object took longer than the rest of this code.
    service,
    account,
    place,
    operation: operation?.name ?? "",
    method: request.method,
    status,
    etag: outcome?.kind === "reply" ? outcome.etag : undefined,
    principal: principal?.kind ?? "anonymous",
    objectId: roleCallerOf(principal)?.objectId,
    address: request.remoteAddress,
    agent: request.headers["user-agent"],
    refused: kind === "refused" ? refusalOf(observed, one) : undefined,
    lease: kind === "lease" && call !== undefined ? leaseOf(call, reply.headers) : undefined,
  });
}

const noResource: SignedName = {};

function refusalOf({ http }: ObservedRequest, one: EventSource): FeedRefusal {
  const { context, call, outcome, fault } = one;
  const missing = one.status === 403 ? missingActions(http, context) : undefined;
  const refusal = outcome === undefined || outcome.kind === "reply" ? undefined : outcome.rejection;
  const action = call?.operation.lease === "action" ? actionOf(call) : undefined;
  const unmet = refusal?.failedCondition;
  return {
    fault,
    rule: missing === undefined ? (refusal?.rule ?? "request") : "role",
    now: refusal?.now,
    unmet,
    asked: unmet === undefined ? undefined : conditionValue(context.request, unmet),
    found: refusal && refusal.target !== undefined,
    etag: refusal?.target?.etag,
    lease: refusal?.target?.lease,
    given: call?.leaseId ?? idIn(action),
    isAboutLease:
      refusal?.rule === "lease" || (action !== undefined && refusal?.rule === "decision"),
    missing,
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

/** A blob, queue, entity or other object whose requests the explorer shows as a timeline. */
export interface WatchedObject {
  readonly service: ServiceName;
  readonly account: string;
  readonly place: SignedName;
}

/** Text that identifies an object, also between processes: the main worker sends the other workers
 *  (`--workers`) the keys of the objects with an open timeline. */
export function objectKey({ service, account, place }: WatchedObject): string {
  const { name, path, entity } = place;
  return JSON.stringify([service, account, name, path, entity?.partitionKey, entity?.rowKey]);
}

export function isSameObject(left: WatchedObject, right: WatchedObject): boolean {
  return (
    left.service === right.service &&
    left.account === right.account &&
    left.place.name === right.place.name &&
    left.place.path === right.place.path &&
    left.place.entity?.partitionKey === right.place.entity?.partitionKey &&
    left.place.entity?.rowKey === right.place.entity?.rowKey
  );
}

/** The objects with an open timeline in the explorer, whose reads the feed records. If there is
 *  none, a read costs no more than `isEmpty`. */
export class WatchedObjects {
  #keys: ReadonlySet<string> = new Set();

  set(keys: readonly string[]): void {
    this.#keys = new Set(keys);
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  has(object: WatchedObject): boolean {
    return this.#keys.has(objectKey(object));
  }
}

/** A fact that holds for some time: a client holds a lease, or waits for a lock. A `SpanHistory`
 *  records its beginning and end from samples. */
export interface Spanned {
  /** Identifies the fact between samples. */
  readonly key: string;
  /** When the fact began; undefined: when it was first sampled. */
  readonly since?: Ticks | undefined;
  /** Time when the fact ends by itself (a lease expires); undefined if that is not known. */
  readonly until?: Ticks | undefined;
}

/** A fact, and the time during which it held. */
export interface Span<Fact> {
  readonly fact: Fact;
  readonly from: Ticks;
  /** Undefined while the fact holds. */
  readonly to: Ticks | undefined;
}

/** Bounds memory: of facts that hold at the same time, the history omits further ones. */
const heldMax = 2000;
/** How many ended spans are kept for timelines; a new one replaces the oldest. */
const endedMax = 4096;

/** Records from when to when facts held, from samples of the facts that hold now. Memory is fixed:
 *  a new span replaces the oldest. */
export class SpanHistory<Fact extends Spanned> {
  readonly #held = new Map<string, { fact: Fact; readonly from: Ticks }>();
  readonly #ended = new Ring<Span<Fact>>(endedMax);
  #sampledAt: Ticks | undefined;
  #isPaused = false;

  /** Takes a sample of the facts that hold now: earlier ones that are missing have ended. */
  update(now: Ticks, facts: readonly Fact[]): void {
    const present = new Map(facts.map((fact) => [fact.key, fact]));
    const pausedAt = this.#pausedAt();
    for (const [key, { fact, from }] of this.#held) {
      const next = present.get(key);
      const isNew = pausedAt !== undefined && (next?.since ?? pausedAt) > pausedAt;
      if (next !== undefined && !isNew) continue;
      this.#held.delete(key);
      this.#ended.push({ fact, from, to: endOf(fact, pausedAt ?? now) });
    }
    for (const [key, fact] of present) {
      const known = this.#held.get(key);
      if (known !== undefined) known.fact = fact;
      else if (this.#held.size < heldMax) this.#held.set(key, { fact, from: fact.since ?? now });
    }
    this.#sampledAt = now;
    this.#isPaused = false;
  }

  /** Called when samples stop, because no page watches any more. Nothing shows the ends of open
   *  spans from then on: they end with the last sample. A span whose fact is in the next sample
   *  goes on: a page that changes to another view subscribes again, and otherwise a timeline would
   *  show one lease as many bars. */
  pause(): void {
    this.#isPaused = true;
  }

  /** The spans that held at or after a time. */
  since(time: Ticks): readonly Span<Fact>[] {
    const ended = [...this.#ended.latest()];
    const held = [...this.#held.values()].map((one) => ({ ...one, to: this.#pausedAt() }));
    return [...held, ...ended].filter(({ to }) => to === undefined || to >= time);
  }

  #pausedAt(): Ticks | undefined {
    return this.#isPaused ? this.#sampledAt : undefined;
  }
}

function endOf({ until }: Spanned, now: Ticks): Ticks {
  return until !== undefined && until < now ? until : now;
}

/** Buffer of the latest items; a new item replaces the oldest. */
export class Ring<T> {
  readonly #countMax: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  push(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#countMax;
  }

  /** Yields the newest items first. */
  *latest(): IterableIterator<T> {
    const count = this.#items.length;
    for (let back = 1; back <= count; back += 1) {
      const item = this.#items[(this.#next - back + count) % count];
      if (item !== undefined) yield item;
    }
  }
}
