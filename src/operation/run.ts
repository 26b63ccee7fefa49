import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { Received } from "../content/content-ref.ts";
import { nextETag } from "../protocol/etag.ts";
import type { Encryption } from "../protocol/encryption.ts";
import type { Effect } from "./effects.ts";
import type { AnyDecisionContext } from "./operation.ts";
import type { HeaderGroup, Reply } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { LoadedResource, PreparedScope } from "./service.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Transaction, View } from "../store/store.ts";
import { applyEffects, applyReply } from "./apply.ts";
import { check, checkDatesWithoutTarget, refused } from "./check.ts";
import type { Call, Outcome, Runtime, ETaggedRecord } from "./execute.ts";
import { newGuid as guidFrom, newId as idFrom } from "./identifiers.ts";
import { Records } from "./records.ts";
import type { WaitOutcome } from "./wait.ts";

/** What the operation before has found, of those that share a transaction. */
export interface PreviousOperation {
  call: Call | undefined;
  located: LoadedResource | undefined;
}

/** Waits for nothing that is there already. */
export function run(
  runtime: Runtime,
  call: Call,
  view: View,
  tx: Transaction | undefined,
  records = new Records(view, runtime.content, runtime),
  trail?: PreviousOperation,
): Awaitable<Outcome | WaitOutcome> {
  const running = { runtime, call, view, tx, records };
  const located = call.resource.load(records, call, trail && previousLoaded(trail, call));
  return located instanceof Promise
    ? runLater(running, located, trail)
    : runOn(running, located, trail);
}

/** Apart, as all that waits: functions that may have to be made cost those, too, who go on at
 *  once. */
async function runLater(
  running: RunContext,
  located: Promise<LoadedResource>,
  trail: PreviousOperation | undefined,
): Promise<Outcome | WaitOutcome> {
  return runOn(running, await located, trail);
}

function previousLoaded(
  trail: PreviousOperation,
  { resource, account }: Call,
): LoadedResource | undefined {
  const isAlike = trail.call?.resource === resource && trail.call.account === account;
  return isAlike ? trail.located : undefined;
}

interface RunContext {
  readonly runtime: Runtime;
  readonly call: Call;
  readonly view: View;
  readonly tx: Transaction | undefined;
  readonly records: Records;
  /** Effects that come before those of the decision. */
  preparation?: readonly Effect[];
}

function runOn(
  running: RunContext,
  located: LoadedResource,
  trail: PreviousOperation | undefined,
): Awaitable<Outcome | WaitOutcome> {
  const { runtime, call, view, records } = running;
  const { operation } = call;
  if (trail !== undefined) {
    trail.call = call;
    trail.located = located;
  }
  const refusal = check(call, located, view.now);
  if (refusal !== undefined) return refusal;
  const scope = valueOf(located.scope);
  const target: ETaggedRecord | undefined = located.target;
  const newETag = nextETag(view.now, target?.etag);
  const context = contextOf(runtime, call, { scope, target, newETag, now: view.now });
  if (target === undefined && call.resource.prepareCreation !== undefined) {
    const prepared = prepareCreation(running, context);
    if (prepared?.ok === false) return refused("place", prepared.fault, located, view.now);
    if (prepared !== undefined) {
      context.scope = prepared.value.scope;
      running.preparation = prepared.value.effects;
    }
  }
  if (operation.reads === undefined) return decideOn(running, located, context);
  return decideOnSeen(running, located, context, operation.reads(records, context));
}

/** Only an operation that may create its target prepares for it. */
function prepareCreation(
  { call }: RunContext,
  context: AnyDecisionContext,
): Result<PreparedScope> | undefined {
  const { target, effect } = call.operation;
  if (effect !== "writes" || (target !== "may-exist" && target !== "must-not-exist")) {
    return undefined;
  }
  const { address, input, features, now, newETag, newId, scope } = context;
  const creation = { operation: call.operation, address, input, features, now, newETag, newId };
  return call.resource.prepareCreation?.(scope, creation);
}

function decideOnSeen(
  running: RunContext,
  located: LoadedResource,
  context: MutableContext,
  readResult: Awaitable<unknown>,
): Awaitable<Outcome | WaitOutcome> {
  return mapAwaitable(readResult, (there) => {
    context.readResult = there;
    const { call, view } = running;
    const refusal =
      context.target === undefined
        ? checkDatesWithoutTarget(call, located, there, view.now)
        : undefined;
    return refusal ?? decideOn(running, located, context);
  });
}

function decideOn(
  running: RunContext,
  located: LoadedResource,
  context: AnyDecisionContext,
): Awaitable<Outcome | WaitOutcome> {
  const { runtime, call, view, tx } = running;
  const { scope, newETag } = context;
  const target: ETaggedRecord | undefined = context.target;
  const decision = call.operation.decide(context);
  if ("fault" in decision) return refused("decision", decision.fault, located, view.now);
  if ("wait" in decision) {
    const pending: WaitOutcome = { kind: "wait", ...decision };
    if (tx === undefined) return pending;
    return after(applyEffects(runtime.content, tx, decision.effects, view.now), pending);
  }
  if (tx === undefined) return outcomeOf(running, located, decision, context);
  const settled = { call, scope, before: target, newETag, now: view.now };
  const { preparation } = running;
  const reply = preparation === undefined ? decision : precededBy(preparation, decision);
  const applied = applyReply(runtime.content, tx, settled, reply);
  if (!(applied instanceof Promise)) return outcomeOf(running, located, decision, context);
  return outcomeAfter(applied, running, located, decision, context);
}

function precededBy(effects: readonly Effect[], reply: Reply<object, string>) {
  return { ...reply, preserve: [...effects, ...(reply.preserve ?? [])] };
}

function after<T>(done: Awaitable<void>, value: T): Awaitable<T> {
  return mapAwaitable(done, () => value);
}

async function outcomeAfter(
  applied: Promise<void>,
  running: RunContext,
  located: LoadedResource,
  decision: Reply<object, string>,
  context: AnyDecisionContext,
): Promise<Outcome> {
  await applied;
  return outcomeOf(running, located, decision, context);
}

interface Makers {
  readonly newId: () => bigint;
  readonly newGuid: () => string;
}

const makers = new WeakMap<Runtime, Makers>();

function idGeneratorsOf(runtime: Runtime): Makers {
  const known = makers.get(runtime);
  if (known !== undefined) return known;
  const { random } = runtime;
  const made = { newId: () => idFrom(random), newGuid: () => guidFrom(random) };
  makers.set(runtime, made);
  return made;
}

type MutableContext = AnyDecisionContext & { readResult: unknown; scope: object };

interface DecisionInputs {
  readonly scope: object;
  readonly target: object | undefined;
  readonly newETag: Ticks;
  readonly now: Ticks;
}

/** Spelled out, because spreading the call would cost more than most decisions. */
function contextOf(
  runtime: Runtime,
  call: Call,
  { scope, target, newETag, now }: DecisionInputs,
): MutableContext {
  const { newId, newGuid } = idGeneratorsOf(runtime);
  return {
    now,
    version: call.version,
    account: call.account,
    features: call.features,
    address: call.address,
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
    newId,
    newGuid,
  };
}

function outcomeOf(
  { runtime, call, view }: RunContext,
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
  const streams = body !== undefined && "content" in body && body.content.kind !== "inline";
  return {
    kind: "reply",
    status: reply.status ?? success.status,
    headers: groupsOf(reply.headers),
    metadata: reply.metadata,
    etag: reply.etag ?? current,
    deferredUpdate: reply.deferredUpdate,
    body,
    reader: streams ? runtime.content.open(view, body.content, keyOf(call)) : undefined,
    cors,
  };
}

/** The client's own key, for bytes that are encrypted with it. */
function keyOf({ input }: Call): Uint8Array | undefined {
  return "encryption" in input ? (input.encryption as Encryption).clientKey?.key : undefined;
}

const noHeaders: readonly HeaderGroup[] = [];

function groupsOf(headers: Reply<object, string>["headers"]): readonly HeaderGroup[] {
  if (headers === undefined) return noHeaders;
  return Array.isArray(headers) ? (headers as readonly HeaderGroup[]) : [headers as HeaderGroup];
}
const nothingReceived: Received = { length: 0, pieces: [] };

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error("checked before");
  return result.value;
}
