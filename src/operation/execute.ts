import type { ReceivedBody } from "../content/content-ref.ts";
import { noConditions, type Conditions } from "../protocol/conditions.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { AclCaller } from "../protocol/posix-access.ts";
import type { Delegate } from "../protocol/delegation.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Lease } from "../protocol/lease.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { EntityRange } from "../protocol/principal.ts";
import type { Features } from "../protocol/features.ts";
import { mayUseReserve, type Address, type AnyReadContext, type Operation } from "./operation.ts";
import type { HeaderGroup, DeferredUpdate, ReplyBody } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { Access, Resource } from "./service.ts";
import type { CopySource } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { ContentReader, ContentStore } from "../content/content.ts";
import type { SnapshotOptions, Store, View } from "../store/store.ts";
import { applyDeferredUpdate } from "./apply.ts";
import { check, type Rejection } from "./check.ts";
import type { ClientIdentity, ContentionQueues } from "./contention-queues.ts";
import type { Quotas } from "./quotas.ts";
import { Records } from "./records.ts";
import type { RenderCache } from "./render-cache.ts";
import { run } from "./run.ts";
import type { CallWaits } from "./call-waits.ts";
import { isWaitOutcome, runUntilReady, type WaitOutcome } from "./wait.ts";

/** What operations are executed with. */
export interface Runtime {
  readonly store: Store;
  readonly content: ContentStore;
  readonly random: Random;
  /** For time-outs only. The current time of an operation is that of the store. */
  readonly clock: Clock;
  readonly log?: Log;
  /** Identifies this runtime as the origin of changes, so that its own watchers ignore them;
   *  undefined: all watchers are notified. */
  readonly origin?: string;
  /** Cache of rendered listing entries; undefined: each entry is rendered. */
  readonly renderings?: RenderCache;
  /** FIFO queues of clients that retry conditional writes; undefined: no fair order. */
  readonly contentionQueues?: ContentionQueues;
  /** The calls that wait for a record, for the admin API; undefined: they are not listed. */
  readonly waits?: CallWaits;
  /** Admits writes to accounts with a quota; undefined: each of them reads the counter of its
   *  account with validation. */
  readonly quotas?: Quotas | undefined;
}

/** A request after parsing and authentication: an operation with its input. */
export interface Call {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly account: string;
  readonly features: Features;
  readonly address: Address;
  readonly version: string;
  /** The service URL that the client used. */
  readonly endpoint: string;
  /** Whether the request was sent to the secondary endpoint, which only reads. */
  readonly secondary: boolean;
  readonly input: object;
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
  /** The stored body of an operation with a `content` body or a fetched source. */
  readonly received: ReceivedBody | undefined;
  /** The range of entities that a table SAS is limited to. */
  readonly entities?: EntityRange | undefined;
  /** Identifies the client in the contention queues; undefined: it does not wait. */
  readonly clientIdentity?: ClientIdentity | undefined;
  /** The source of a copy; undefined if the operation has none. */
  readonly source: CopySource | undefined;
  /** Derives a user delegation key; undefined without a bearer token. */
  readonly delegate: Delegate | undefined;
  /** Object id of the user who acts. */
  readonly callerId?: string | undefined;
  /** Returns the caller that access control lists limit; undefined for none. */
  readonly aclCaller?: (() => AclCaller | undefined) | undefined;
  /** Checks access once the access policies and the target are loaded. */
  readonly authorise: (
    access: Access | undefined,
    exists: boolean,
    address: Address,
  ) => Result<void>;
}

/** The result of a call. `rejection` is for the event feed. */
export type Outcome =
  | {
      readonly kind: "reply";
      readonly status: number;
      readonly headers: readonly HeaderGroup[];
      readonly metadata: Metadata | undefined;
      readonly etag: Ticks | undefined;
      readonly body: ReplyBody | undefined;
      readonly deferredUpdate?: DeferredUpdate | undefined;
      /** The bytes of a body that is streamed. Opened inside the transaction, so that it reads the
       *  state of the decision. */
      readonly reader: ContentReader | undefined;
      readonly cors?: CorsRules;
    }
  | { readonly kind: "not-modified"; readonly rejection?: Rejection; readonly cors?: CorsRules }
  | {
      readonly kind: "fault";
      readonly fault: Fault;
      readonly rejection?: Rejection;
      readonly cors?: CorsRules;
    };

/** The CORS rules of the service; undefined if the target's scope was not loaded. */
type CorsRules = readonly CorsRule[] | undefined;

/** The fields that all records with an ETag share. */
export interface ETaggedRecord {
  readonly etag?: Ticks;
  readonly lease?: Lease | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** Executes one call: load, check and decide on one state, commit only if nothing that was read has
 *  changed. */
export function execute(runtime: Runtime, call: Call): Promise<Outcome> {
  const { contentionQueues } = runtime;
  const { clientIdentity: client } = call;
  if (contentionQueues === undefined || client === undefined) return executeNow(runtime, call);
  const isContested =
    call.operation.effect === "reads"
      ? !contentionQueues.isEmpty
      : call.conditions !== noConditions;
  return isContested
    ? executeInOrder(runtime, call, contentionQueues, client)
    : executeNow(runtime, call);
}

/** Waits for the clients before this one in the contention queue of the resource, then executes the
 *  call. */
async function executeInOrder(
  runtime: Runtime,
  call: Call,
  contentionQueues: ContentionQueues,
  client: ClientIdentity,
): Promise<Outcome> {
  const name = nameOf(call);
  if (call.operation.effect === "reads") {
    await contentionQueues.read(name, client);
    return executeNow(runtime, call);
  }
  await contentionQueues.write(name, client);
  let hasFailed = false;
  try {
    const outcome = await executeNow(runtime, call);
    hasFailed = outcome.kind === "fault" && outcome.rejection?.rule === "condition";
    return outcome;
  } finally {
    contentionQueues.leave(name, client, hasFailed);
  }
}

/** The name of the addressed resource, as the key of its contention queue. */
function nameOf({ account, address }: Call): string {
  return `${account} ${Object.values(address).join(" ")}`;
}

async function executeNow(runtime: Runtime, call: Call): Promise<Outcome> {
  const isRead = call.operation.effect === "reads";
  try {
    const first = await (isRead ? read(runtime, call) : write(runtime, call));
    const outcome = isWaitOutcome(first) ? await waitAndWrite(runtime, call, first) : first;
    if (outcome.kind === "reply" && outcome.deferredUpdate !== undefined && !call.secondary) {
      await tryDeferredUpdate(runtime, outcome.deferredUpdate);
    }
    return outcome;
  } finally {
    runtime.quotas?.release(call);
  }
}

async function waitAndWrite(runtime: Runtime, call: Call, first: WaitOutcome): Promise<Outcome> {
  const { account, operation } = call;
  const since = runtime.clock.wall();
  const wait = { account, operation: operation.name, key: first.wait.key, since };
  const endWait = runtime.waits?.add(wait);
  try {
    return await runUntilReady(runtime, first, () => write(runtime, call));
  } finally {
    endWait?.();
  }
}

function read(runtime: Runtime, call: Call) {
  const { store, content } = runtime;
  const work = (view: View) => run(runtime, call, view, undefined);
  return store.snapshot(work, { prefetch: (view) => prefetch(content, call, view) });
}

function write(runtime: Runtime, call: Call) {
  const { store, content } = runtime;
  return store.transact((tx) => run(runtime, call, tx, tx), {
    prefetch: (view) => prefetch(content, call, view),
    runInBatch: call.operation.runInBatch,
    mayUseReserve: mayUseReserve(call.operation),
  });
}

/** A failure is only logged: the read has succeeded, and must not fail because of this write. */
async function tryDeferredUpdate(
  { store, content, log }: Runtime,
  update: DeferredUpdate,
): Promise<void> {
  try {
    await store.transact((tx) => applyDeferredUpdate(content, tx, update));
  } catch (error) {
    log?.warn({ err: error }, "deferred update of a read failed; skipped");
  }
}

/** Runs the checks without the decision, so that an upload that must fail is rejected before its
 *  body is received. Undefined if all pass. */
export function precheck(runtime: Runtime, call: Call): Promise<Outcome | undefined> {
  const { store, content } = runtime;
  const work = async (view: View): Promise<Outcome | undefined> =>
    check(call, await call.resource.load(new Records(view, content), call), view.now);
  return store.snapshot(work, prefetchOptions(content, [call]));
}

/** Options that let a remote engine fetch all records of these calls in one round trip. */
export function prefetchOptions(content: ContentStore, calls: readonly Call[]): SnapshotOptions {
  const all = (view: View) => calls.map((call) => prefetch(content, call, view));
  return { prefetch: (view) => Promise.allSettled(all(view)) };
}

/** Reads what the operation will read: target, scope and its `reads`. Decides nothing, because the
 *  view may be stale. */
async function prefetch(content: ContentStore, call: Call, view: View): Promise<void> {
  const records = new Records(view, content);
  const { operation } = call;
  const loaded = await call.resource.load(records, call);
  if (!loaded.scope.ok || operation.reads === undefined) return;
  const { target } = loaded;
  if (target === undefined && operation.target === "must-exist") return;
  const context: AnyReadContext = {
    now: view.now,
    version: call.version,
    account: call.account,
    features: call.features,
    address: call.address,
    scope: loaded.scope.value,
    target,
    input: call.input,
    entities: call.entities,
    source: call.source,
    aclCaller: call.aclCaller?.(),
  };
  await operation.reads(records, context);
}
