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
import { mayUseReserve, type Address, type Operation } from "./operation.ts";
import type { HeaderGroup, DeferredUpdate, ReplyBody } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { Access, Resource } from "./service.ts";
import type { CopySource } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { ContentReader, ContentStore } from "../content/content.ts";
import type { Store, View } from "../store/store.ts";
import { applyDeferredUpdate } from "./apply.ts";
import { check, type Rejection } from "./check.ts";
import { prefetchOptions } from "./prefetch.ts";
import type { ClientIdentity, ContentionQueues } from "./contention-queues.ts";
import { Records } from "./records.ts";
import type { RenderCache } from "./render-cache.ts";
import { run } from "./run.ts";
import { isWaitOutcome, runUntilReady } from "./wait.ts";

export interface Runtime {
  readonly store: Store;
  readonly content: ContentStore;
  readonly random: Random;
  /** For time-outs only; the current time is the store's. */
  readonly clock: Clock;
  readonly log?: Log;
  /** Identifies this runtime as the origin of changes, so that its own watchers ignore them. */
  readonly origin?: string;
  /** Cache of rendered listing entries. */
  readonly renderings?: RenderCache;
  /** FIFO queues of clients that retry conditional writes. */
  readonly contentionQueues?: ContentionQueues;
}

/** A request after parsing. */
export interface Call {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly account: string;
  readonly features: Features;
  readonly address: Address;
  readonly version: string;
  readonly endpoint: string;
  readonly secondary: boolean;
  readonly input: object;
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
  readonly received: ReceivedBody | undefined;
  readonly entities?: EntityRange | undefined;
  /** Identifies the client in the contention queues. */
  readonly clientIdentity?: ClientIdentity | undefined;
  readonly source: CopySource | undefined;
  readonly delegate: Delegate | undefined;
  /** Object id of a caller with a bearer token. */
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

export type Outcome =
  | {
      readonly kind: "reply";
      readonly status: number;
      readonly headers: readonly HeaderGroup[];
      readonly metadata: Metadata | undefined;
      readonly etag: Ticks | undefined;
      readonly body: ReplyBody | undefined;
      readonly deferredUpdate?: DeferredUpdate | undefined;
      /** Opened inside the transaction, so that it reads the same state. */
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
  const { contentionQueues: contests } = runtime;
  const { clientIdentity: client } = call;
  if (contests === undefined || client === undefined) return executeNow(runtime, call);
  const isContested =
    call.operation.effect === "reads" ? !contests.isEmpty : call.conditions !== noConditions;
  return isContested ? executeInOrder(runtime, call, contests, client) : executeNow(runtime, call);
}

/** Waits for the preceding clients of the contention queue first. */
async function executeInOrder(
  runtime: Runtime,
  call: Call,
  contests: ContentionQueues,
  client: ClientIdentity,
): Promise<Outcome> {
  const name = nameOf(call);
  if (call.operation.effect === "reads") {
    await contests.read(name, client);
    return executeNow(runtime, call);
  }
  await contests.write(name, client);
  let hasFailed = false;
  try {
    const outcome = await executeNow(runtime, call);
    hasFailed = outcome.kind === "fault" && outcome.rejection?.rule === "condition";
    return outcome;
  } finally {
    contests.leave(name, client, hasFailed);
  }
}

/** The name of the addressed resource, as the key of its contention queue. */
function nameOf({ account, address }: Call): string {
  return `${account} ${Object.values(address).join(" ")}`;
}

async function executeNow(runtime: Runtime, call: Call): Promise<Outcome> {
  const { store, content } = runtime;
  const options = prefetchOptions(content, call);
  const write = () =>
    store.transact((tx) => run(runtime, call, tx, tx), {
      prefetch: options.prefetch,
      runInBatch: call.operation.runInBatch,
      mayUseReserve: mayUseReserve(call.operation),
    });
  const first =
    call.operation.effect === "reads"
      ? await store.snapshot((view) => run(runtime, call, view, undefined), options)
      : await write();
  const outcome = isWaitOutcome(first) ? await runUntilReady(runtime, first, write) : first;
  if (outcome.kind === "reply" && outcome.deferredUpdate !== undefined && !call.secondary) {
    await tryDeferredUpdate(runtime, outcome.deferredUpdate);
  }
  return outcome;
}

/** The read has succeeded and must not fail because this write does. */
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

/** Runs the checks alone, so that an upload that must fail is rejected before its body is
 *  received. */
export function precheck(runtime: Runtime, call: Call): Promise<Outcome | undefined> {
  const { store, content } = runtime;
  const work = async (view: View): Promise<Outcome | undefined> =>
    check(call, await call.resource.load(new Records(view, content), call), view.now);
  return store.snapshot(work, prefetchOptions(content, call));
}
