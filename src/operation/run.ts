import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { writePieces } from "../encoding/paged-text.ts";
import { nextETag, noConditions } from "../protocol/conditions.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import { inputWithRole, type AnyDecisionContext } from "./operation.ts";
import type { HeaderGroup, RenderedBody, Reply } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { LoadedResource, PreparedScope } from "./service.ts";
import type { Ticks } from "../base/ticks.ts";
import { applyReply } from "./apply.ts";
import { check, checkDatesWithoutTarget, checkLast, rejected } from "./check.ts";
import type { Call, Outcome, ETaggedRecord } from "./execute.ts";
import { newGuid, newId } from "./identifiers.ts";
import type { Records } from "./records.ts";
import { hasEventLog, usageIn } from "./quotas.ts";
import type { Attempt, Runtime, WaitOutcome } from "./work.ts";

/** One attempt to execute one call inside a transaction or snapshot: load, check, read, decide,
 *  apply. `execute.ts` calls it. Written with callbacks instead of `await`, because awaiting
 *  available values costs more than most decisions. */

/** What the preceding operation of a transaction loaded; nothing for the first operation. */
export interface PreviousOperation {
  call: Call | undefined;
  loaded: LoadedResource | undefined;
}

/** Runs an attempt. Synchronous unless a read returns a promise. */
export function run(
  attempt: Attempt,
  call: Call,
  records: Records = attempt.records,
  previous?: PreviousOperation,
): Awaitable<Outcome | WaitOutcome> {
  const execution = { attempt, call, records };
  const loaded = call.resource.load(records, call, previous && loadedBy(previous, call));
  return loaded instanceof Promise
    ? runLater(execution, loaded, previous)
    : runOn(execution, loaded, previous);
}

/** Continues after an asynchronous load. A separate function, because an async function or a
 *  closure in `run` would slow down the synchronous path. */
async function runLater(
  execution: Execution,
  loaded: Promise<LoadedResource>,
  previous: PreviousOperation | undefined,
): Promise<Outcome | WaitOutcome> {
  return runOn(execution, await loaded, previous);
}

/** What the preceding operation loaded, if it addressed such a resource in the same account. */
function loadedBy(
  previous: PreviousOperation,
  { resource, account }: Call,
): LoadedResource | undefined {
  const isSameResource = previous.call?.resource === resource && previous.call.account === account;
  return isSameResource ? previous.loaded : undefined;
}

interface Execution {
  readonly attempt: Attempt;
  readonly call: Call;
  readonly records: Records;
  /** Effects of `prepareCreation`, which come before those of the decision. */
  preparation?: readonly Effect[];
}

function runOn(
  execution: Execution,
  loaded: LoadedResource,
  previous: PreviousOperation | undefined,
): Awaitable<Outcome | WaitOutcome> {
  const { attempt, call, records } = execution;
  const { operation } = call;
  const { now } = attempt;
  if (previous !== undefined) {
    previous.call = call;
    previous.loaded = loaded;
  }
  const rejection = check(call, loaded, now);
  if (rejection !== undefined) return rejection;
  const context = contextOf(attempt.runtime, call, loaded, now);
  if (context.target === undefined && call.resource.prepareCreation !== undefined) {
    const prepared = prepareCreation(execution, context);
    if (prepared?.ok === false) return rejected("place", prepared.fault, loaded, now);
    if (prepared !== undefined) {
      context.scope = prepared.value.scope;
      execution.preparation = prepared.value.effects;
    }
  }
  if (operation.reads === undefined) return decideOn(execution, loaded, context);
  return decideAfterReads(execution, loaded, context, operation.reads(records, context));
}

/** Prepares the creation of a missing target: creates missing parent directories, for example.
 *  Undefined if the operation does not create its target, or if there is nothing to prepare. */
function prepareCreation(
  { call }: Execution,
  context: AnyDecisionContext,
): Result<PreparedScope> | undefined {
  const { target, effect } = call.operation;
  if (effect !== "writes" || (target !== "may-exist" && target !== "must-not-exist")) {
    return undefined;
  }
  const { address, input, features, now, newETag, scope, callerId } = context;
  return call.resource.prepareCreation?.(scope, {
    operation: call.operation,
    address,
    input,
    features,
    now,
    newETag,
    newId: context.newId,
    callerId,
  });
}

function decideAfterReads(
  execution: Execution,
  loaded: LoadedResource,
  context: MutableContext,
  readResult: Awaitable<unknown>,
): Awaitable<Outcome | WaitOutcome> {
  return mapAwaitable(readResult, (result) => {
    context.readResult = result;
    const { call, attempt } = execution;
    const rejection =
      context.target === undefined
        ? checkDatesWithoutTarget(call, loaded, result, attempt.now)
        : undefined;
    return rejection ?? decideOn(execution, loaded, context);
  });
}

function decideOn(
  execution: Execution,
  loaded: LoadedResource,
  context: AnyDecisionContext,
): Awaitable<Outcome | WaitOutcome> {
  const { attempt, call } = execution;
  const { runtime, tx, now } = attempt;
  const decision = call.operation.decide(context);
  if ("fault" in decision) return rejected("decision", decision.fault, loaded, now);
  const taken = checkLast(call, loaded, now);
  if (taken !== undefined) return taken;
  if ("wait" in decision) {
    const waitOutcome: WaitOutcome = { kind: "wait", ...decision };
    if (tx === undefined) return waitOutcome;
    return mapAwaitable(attempt.apply(decision.effects), () => waitOutcome);
  }
  if (tx === undefined) return render(execution, loaded, decision, context);
  const { scope, newETag } = context;
  const before: ETaggedRecord | undefined = context.target;
  attempt.usage ??= usageIn(scope);
  const writeContext = { call, scope, before, newETag, now, usage: attempt.usage };
  const { preparation } = execution;
  const completed = completeReply(call, decision, context);
  const prepared =
    preparation === undefined
      ? completed
      : { ...completed, preserve: [...preparation, ...(completed.preserve ?? [])] };
  const applied = hasEventLog(scope)
    ? mapAwaitable(withEvents(execution, prepared, context), (reply) =>
        applyReply(runtime.content, tx, writeContext, reply),
      )
    : applyReply(runtime.content, tx, writeContext, prepared);
  if (!(applied instanceof Promise)) return render(execution, loaded, decision, context);
  return outcomeAfter(applied, execution, loaded, decision, context);
}

function completeReply(
  { operation, resource: { completeRecord } }: Call,
  reply: Reply<object>,
  { scope, target: before, callerId }: AnyDecisionContext,
): Reply<object> {
  if (completeRecord === undefined || reply.put === undefined) return reply;
  const put = completeRecord(reply.put, { operation, scope, before, callerId });
  return put === reply.put ? reply : { ...reply, put };
}

/** Adds the events of a change to the effects of its reply, if the account has an event log. */
function withEvents(
  { call, records }: Execution,
  reply: Reply<object>,
  { address, input, scope, target: before, now, newETag, endpoint }: AnyDecisionContext,
): Awaitable<Reply<object>> {
  const { operation, resource, requestId, clientRequestId } = call;
  if (resource.eventsOf === undefined) return reply;
  const request = { operation, address, input, endpoint, requestId, clientRequestId };
  const change = { ...request, scope, before, reply, now, newETag };
  return mapAwaitable(resource.eventsOf(change, records), (events) =>
    events.length === 0 ? reply : { ...reply, effects: [...(reply.effects ?? []), ...events] },
  );
}

async function outcomeAfter(
  applied: Promise<void>,
  execution: Execution,
  loaded: LoadedResource,
  decision: Reply<object>,
  context: AnyDecisionContext,
): Promise<Outcome> {
  await applied;
  return render(execution, loaded, decision, context);
}

/** Renders a body in pieces. It happens in the attempt: pieces may be read from records of its
 *  view. */
function render(
  execution: Execution,
  loaded: LoadedResource,
  decision: Reply<object>,
  context: AnyDecisionContext,
): Awaitable<Outcome> {
  const { body } = decision;
  if (body === undefined || !("pieces" in body)) {
    return outcomeOf(execution, loaded, decision, body, context);
  }
  const written = writePieces(execution.attempt.runtime.content.loop, body.pieces);
  return mapAwaitable(written, (paged) =>
    outcomeOf(execution, loaded, decision, { type: body.type, paged }, context),
  );
}

type MutableContext = AnyDecisionContext & { readResult: unknown; scope: object };

/** The context of `reads` and `decide`. Lists the fields, because spreading the call would cost
 *  more than most decisions. */
export function contextOf(
  runtime: Runtime,
  call: Call,
  loaded: LoadedResource,
  now: Ticks,
): MutableContext {
  const target: ETaggedRecord | undefined = loaded.target;
  const { random } = runtime;
  return {
    now,
    version: call.version,
    account: call.account,
    features: call.features,
    address: loaded.address ?? call.address,
    scope: call.operation.target === "ignored" ? nowhere : valueOf(loaded.scope),
    target,
    input: call.input,
    entities: call.entities,
    source: call.source,
    newETag: nextETag(now, target?.etag),
    readResult: undefined,
    received: call.received ?? nothingReceived,
    endpoint: call.endpoint,
    secondary: call.secondary,
    delegate: call.delegate,
    callerId: call.callerId,
    aclCaller: call.aclCaller?.(),
    permits: call.permits && ((letter) => call.permits?.(letter, loaded.access) === true),
    isUnconditional: call.conditions === noConditions && call.leaseId === undefined,
    newId: () => newId(random),
    newGuid: () => newGuid(random),
  };
}

function outcomeOf(
  { attempt, call }: Execution,
  { cors }: LoadedResource,
  reply: Reply<object>,
  body: RenderedBody | undefined,
  { target: found, newETag }: AnyDecisionContext,
): Outcome {
  const { etag: policy, status } = call.operation;
  const target: ETaggedRecord | undefined = found;
  const next: ETaggedRecord | undefined = reply.put;
  const current =
    policy === "renew" ? newETag : policy === "keep" ? (next?.etag ?? target?.etag) : undefined;
  const isStreamed = body !== undefined && "content" in body && body.content.kind !== "inline";
  return {
    kind: "reply",
    status: reply.status ?? status,
    headers: groupsOf(reply.headers),
    metadata: reply.metadata,
    etag: reply.etag ?? current,
    deferredUpdate: reply.deferredUpdate,
    body,
    reader: isStreamed
      ? attempt.runtime.content.open(attempt.view, body.content, keyOf(call))
      : undefined,
    cors,
  };
}

/** The customer-provided key with which the content is decrypted. */
function keyOf({ operation, input }: Call): Uint8Array | undefined {
  return inputWithRole(operation, input, "encryption")?.clientKey?.key;
}

const noHeaders: readonly HeaderGroup[] = [];

function groupsOf(headers: Reply<object>["headers"]): readonly HeaderGroup[] {
  if (headers === undefined) return noHeaders;
  return Array.isArray(headers) ? (headers as readonly HeaderGroup[]) : [headers as HeaderGroup];
}
const nothingReceived: ReceivedBody = { length: 0, pieces: [] };

const nowhere = {};

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error("scope is missing although `check` passed");
  return result.value;
}
