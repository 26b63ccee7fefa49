import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { noConditions } from "../protocol/conditions.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import { nextETag } from "../protocol/etag.ts";
import type { Encryption } from "../protocol/encryption.ts";
import type { Effect } from "./effects.ts";
import { mayUseReserve, type Address, type AnyDecisionContext } from "./operation.ts";
import type { HeaderGroup, Reply } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { LoadedResource, PreparedScope } from "./service.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Transaction, View } from "../store/store.ts";
import { applyEffects, applyReply } from "./apply.ts";
import { check, checkDatesWithoutTarget, rejected } from "./check.ts";
import type { Call, Outcome, Runtime, ETaggedRecord } from "./execute.ts";
import { idGeneratorsOf } from "./identifiers.ts";
import { settleUsage } from "./quotas.ts";
import { Records } from "./records.ts";
import { usageIn, type UsageChange } from "./usage.ts";
import type { WaitOutcome } from "./wait.ts";

/** What the preceding operation of the same transaction loaded; undefined fields for the first
 *  operation. */
export interface PreviousOperation {
  call: Call | undefined;
  loaded: LoadedResource | undefined;
  /** Bytes that the operations of the transaction have written so far; undefined if their account
   *  has no quota. */
  usage?: UsageChange | undefined;
}

/** Runs one call on a view: load, check, read, decide, apply. A call with effect `reads` has no
 *  `tx`. Synchronous unless a read returns a promise, because awaiting available values costs more
 *  than most decisions. */
export function run(
  runtime: Runtime,
  call: Call,
  view: View,
  tx: Transaction | undefined,
  records = new Records(view, runtime.content, runtime),
  previous?: PreviousOperation,
): Awaitable<Outcome | WaitOutcome> {
  const execution = { runtime, call, view, tx, records, previous };
  const loaded = call.resource.load(records, call, previous && loadedBy(previous, call));
  return loaded instanceof Promise
    ? runLater(execution, loaded, previous)
    : runOn(execution, loaded, previous);
}

/** A separate function, because an async function or a closure in `run` would slow down the
 *  synchronous path. */
async function runLater(
  execution: Execution,
  loaded: Promise<LoadedResource>,
  previous: PreviousOperation | undefined,
): Promise<Outcome | WaitOutcome> {
  return runOn(execution, await loaded, previous);
}

/** What the preceding operation loaded, if it addressed the same kind of resource in the same
 *  account. */
function loadedBy(
  previous: PreviousOperation,
  { resource, account }: Call,
): LoadedResource | undefined {
  const isSameResource = previous.call?.resource === resource && previous.call.account === account;
  return isSameResource ? previous.loaded : undefined;
}

/** One run of a call. */
interface Execution {
  readonly runtime: Runtime;
  readonly call: Call;
  readonly view: View;
  readonly tx: Transaction | undefined;
  readonly records: Records;
  /** Undefined if the operation is the only one of its transaction. */
  readonly previous: PreviousOperation | undefined;
  /** Effects of `prepareCreation`, which come before those of the decision; undefined if there are
   *  none. */
  preparation?: readonly Effect[];
}

function runOn(
  execution: Execution,
  loaded: LoadedResource,
  previous: PreviousOperation | undefined,
): Awaitable<Outcome | WaitOutcome> {
  const { runtime, call, view, records } = execution;
  const { operation } = call;
  if (previous !== undefined) {
    previous.call = call;
    previous.loaded = loaded;
  }
  const rejection = check(call, loaded, view.now);
  if (rejection !== undefined) return rejection;
  const scope = valueOf(loaded.scope);
  const target: ETaggedRecord | undefined = loaded.target;
  const newETag = nextETag(view.now, target?.etag);
  const { address = call.address } = loaded;
  const context = contextOf(runtime, call, { scope, target, address, newETag, now: view.now });
  if (target === undefined && call.resource.prepareCreation !== undefined) {
    const prepared = prepareCreation(execution, context);
    if (prepared?.ok === false) return rejected("place", prepared.fault, loaded, view.now);
    if (prepared !== undefined) {
      context.scope = prepared.value.scope;
      execution.preparation = prepared.value.effects;
    }
  }
  if (operation.reads === undefined) return decideOn(execution, loaded, context);
  return decideAfterReads(execution, loaded, context, operation.reads(records, context));
}

/** Prepares the creation of a missing target, such as its missing parent directories. Undefined if
 *  the operation does not create its target, or if there is nothing to prepare. */
function prepareCreation(
  { call }: Execution,
  context: AnyDecisionContext,
): Result<PreparedScope> | undefined {
  const { target, effect } = call.operation;
  if (effect !== "writes" || (target !== "may-exist" && target !== "must-not-exist")) {
    return undefined;
  }
  const { address, input, features, now, newETag, newId, scope, callerId } = context;
  const generated = { now, newETag, newId, callerId };
  const creation = { operation: call.operation, address, input, features, ...generated };
  return call.resource.prepareCreation?.(scope, creation);
}

function decideAfterReads(
  execution: Execution,
  loaded: LoadedResource,
  context: MutableContext,
  readResult: Awaitable<unknown>,
): Awaitable<Outcome | WaitOutcome> {
  return mapAwaitable(readResult, (result) => {
    context.readResult = result;
    const { call, view } = execution;
    const rejection =
      context.target === undefined
        ? checkDatesWithoutTarget(call, loaded, result, view.now)
        : undefined;
    return rejection ?? decideOn(execution, loaded, context);
  });
}

function decideOn(
  execution: Execution,
  loaded: LoadedResource,
  context: AnyDecisionContext,
): Awaitable<Outcome | WaitOutcome> {
  const { runtime, call, view, tx } = execution;
  const { scope, newETag } = context;
  const target: ETaggedRecord | undefined = context.target;
  const decision = call.operation.decide(context);
  if ("fault" in decision) return rejected("decision", decision.fault, loaded, view.now);
  if ("wait" in decision) {
    const waitOutcome: WaitOutcome = { kind: "wait", ...decision };
    if (tx === undefined) return waitOutcome;
    return after(applyEffects(runtime.content, tx, decision.effects, view.now), waitOutcome);
  }
  if (tx === undefined) return outcomeOf(execution, loaded, decision, context);
  const usage = usageIn(scope, execution.previous);
  const writeContext = { call, scope, before: target, newETag, now: view.now, usage };
  const { preparation } = execution;
  const completed = completeReply(call, decision, context);
  const reply = preparation === undefined ? completed : precededBy(preparation, completed);
  const written = applyReply(runtime.content, tx, writeContext, reply);
  const applied = usage === undefined ? written : settleAfter(written, execution, tx, usage);
  if (!(applied instanceof Promise)) return outcomeOf(execution, loaded, decision, context);
  return outcomeAfter(applied, execution, loaded, decision, context);
}

/** A transaction of several operations settles its usage after the last one. */
async function settleAfter(
  written: Awaitable<void>,
  { runtime: { quotas }, call, previous }: Execution,
  tx: Transaction,
  usage: UsageChange,
): Promise<void> {
  await written;
  const transaction = { request: call, isExempt: mayUseReserve(call.operation) };
  if (previous === undefined) await settleUsage(quotas, tx, usage, transaction);
}

function completeReply(
  { resource: { completeRecord } }: Call,
  reply: Reply<object, string>,
  { scope, target: before, callerId }: AnyDecisionContext,
): Reply<object, string> {
  if (completeRecord === undefined || reply.put === undefined) return reply;
  const put = completeRecord(reply.put, { scope, before, callerId });
  return put === reply.put ? reply : { ...reply, put };
}

function precededBy(effects: readonly Effect[], reply: Reply<object, string>) {
  return { ...reply, preserve: [...effects, ...(reply.preserve ?? [])] };
}

function after<T>(done: Awaitable<void>, value: T): Awaitable<T> {
  return mapAwaitable(done, () => value);
}

async function outcomeAfter(
  applied: Promise<void>,
  execution: Execution,
  loaded: LoadedResource,
  decision: Reply<object, string>,
  context: AnyDecisionContext,
): Promise<Outcome> {
  await applied;
  return outcomeOf(execution, loaded, decision, context);
}

type MutableContext = AnyDecisionContext & { readResult: unknown; scope: object };

interface DecisionInputs {
  readonly address: Address;
  readonly scope: object;
  readonly target: object | undefined;
  readonly newETag: Ticks;
  readonly now: Ticks;
}

/** Lists the fields, because spreading the call would cost more than most decisions. */
function contextOf(
  runtime: Runtime,
  call: Call,
  { scope, target, address, newETag, now }: DecisionInputs,
): MutableContext {
  const { newId, newGuid } = idGeneratorsOf(runtime.random);
  return {
    now,
    version: call.version,
    account: call.account,
    features: call.features,
    address,
    scope,
    target,
    input: call.input,
    entities: call.entities,
    source: call.source,
    newETag,
    readResult: undefined,
    received: call.received ?? nothingReceived,
    endpoint: call.endpoint,
    secondary: call.secondary,
    delegate: call.delegate,
    callerId: call.callerId,
    aclCaller: call.aclCaller?.(),
    isUnconditional: call.conditions === noConditions && call.leaseId === undefined,
    newId,
    newGuid,
  };
}

function outcomeOf(
  { runtime, call, view }: Execution,
  { cors }: LoadedResource,
  reply: Reply<object, string>,
  { target: found, newETag }: AnyDecisionContext,
): Outcome {
  const { etag: policy, success } = call.operation;
  const target: ETaggedRecord | undefined = found;
  const next: ETaggedRecord | undefined = reply.put;
  const current =
    policy === "renew" ? newETag : policy === "keep" ? (next?.etag ?? target?.etag) : undefined;
  const body = reply.body;
  const isStreamed = body !== undefined && "content" in body && body.content.kind !== "inline";
  return {
    kind: "reply",
    status: reply.status ?? success.status,
    headers: groupsOf(reply.headers),
    metadata: reply.metadata,
    etag: reply.etag ?? current,
    deferredUpdate: reply.deferredUpdate,
    body,
    reader: isStreamed ? runtime.content.open(view, body.content, keyOf(call)) : undefined,
    cors,
  };
}

/** The customer-provided key with which the content is decrypted. */
function keyOf({ input }: Call): Uint8Array | undefined {
  return "encryption" in input ? (input.encryption as Encryption).clientKey?.key : undefined;
}

const noHeaders: readonly HeaderGroup[] = [];

function groupsOf(headers: Reply<object, string>["headers"]): readonly HeaderGroup[] {
  if (headers === undefined) return noHeaders;
  return Array.isArray(headers) ? (headers as readonly HeaderGroup[]) : [headers as HeaderGroup];
}
const nothingReceived: ReceivedBody = { length: 0, pieces: [] };

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error("scope is missing although `check` passed");
  return result.value;
}
