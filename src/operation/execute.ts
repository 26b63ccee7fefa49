import type { Received } from "../content/content-ref.ts";
import { noConditions, type Conditions } from "../protocol/conditions.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { Delegate } from "../protocol/delegation.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Lease } from "../protocol/lease.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { EntityRange } from "../protocol/principal.ts";
import type { Features } from "../protocol/features.ts";
import type { Address, Operation } from "./operation.ts";
import type { HeaderGroup, DeferredUpdate, ReplyBody } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { Access, Resource } from "./service.ts";
import type { CopySource } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { ContentReader, ContentStore } from "../content/content.ts";
import type { Store, View } from "../store/store.ts";
import { applyDeferredUpdate } from "./apply.ts";
import { check, type Refusal } from "./check.ts";
import { prefetchOptions } from "./prefetch.ts";
import type { ClientIdentity, ContentionQueues } from "./contention-queues.ts";
import { Records } from "./records.ts";
import type { RenderCache } from "./render-cache.ts";
import { run } from "./run.ts";
import { mayUseReserve } from "./may-use-reserve.ts";
import { isWaitOutcome, runUntilReady } from "./wait.ts";

export interface Runtime {
  readonly store: Store;
  readonly content: ContentStore;
  readonly random: Random;
  /** Only to be woken by; what time it is, the store says. */
  readonly clock: Clock;
  readonly log?: Log;
  /** Under which whoever runs this is told of changes; of its own it is not. */
  readonly origin?: string;
  /** What listings have told before. */
  readonly renderings?: RenderCache;
  /** Where clients that change the same thing take turns. */
  readonly contests?: ContentionQueues;
}

/** A request after parsing, whatever door it came through. */
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
  readonly received: Received | undefined;
  readonly entities?: EntityRange | undefined;
  /** Who asks, where clients that change the same thing take turns. */
  readonly clientIdentity?: ClientIdentity | undefined;
  readonly source: CopySource | undefined;
  readonly delegate: Delegate | undefined;
  /** The door's last word on access, once the owner's policies and the target are known. */
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
      /** Opened inside the transaction, so that what it reads belongs to this answer. */
      readonly reader: ContentReader | undefined;
      readonly cors?: CorsRules;
    }
  | { readonly kind: "not-modified"; readonly refusal?: Refusal; readonly cors?: CorsRules }
  | {
      readonly kind: "fault";
      readonly fault: Fault;
      readonly refusal?: Refusal;
      readonly cors?: CorsRules;
    };

/** The CORS rules of the service; undefined if the target's scope was not loaded. */
type CorsRules = readonly CorsRule[] | undefined;

/** The fields every stamped record shares. */
export interface ETaggedRecord {
  readonly etag?: Ticks;
  readonly lease?: Lease | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** Runs one operation: load, check and decide on one state, commit only if it still stands. */
export async function execute(runtime: Runtime, call: Call): Promise<Outcome> {
  const { contests } = runtime;
  const { clientIdentity: contender } = call;
  if (contests === undefined || contender === undefined) return executeNow(runtime, call);
  if (call.operation.effect === "reads") {
    if (!contests.isEmpty) await contests.read(nameOf(call), contender);
    return executeNow(runtime, call);
  }
  if (call.conditions === noConditions) return executeNow(runtime, call);
  const name = nameOf(call);
  await contests.write(name, contender);
  let hasLost = false;
  try {
    const outcome = await executeNow(runtime, call);
    hasLost = outcome.kind === "fault" && outcome.refusal?.rule === "condition";
    return outcome;
  } finally {
    contests.leave(name, contender, hasLost);
  }
}

/** What clients may contend for: the resource that is addressed. */
function nameOf({ account, address }: Call): string {
  return `${account} ${Object.values(address).join(" ")}`;
}

async function executeNow(runtime: Runtime, call: Call): Promise<Outcome> {
  const { store, content } = runtime;
  const options = prefetchOptions(content, call);
  const writing = () =>
    store.transact((tx) => run(runtime, call, tx, tx), {
      prefetch: options.prefetch,
      runInBatch: call.operation.runInBatch,
      mayUseReserve: mayUseReserve(call.operation),
    });
  const first =
    call.operation.effect === "reads"
      ? await store.snapshot((view) => run(runtime, call, view, undefined), options)
      : await writing();
  const outcome = isWaitOutcome(first) ? await runUntilReady(runtime, first, writing) : first;
  if (outcome.kind === "reply" && outcome.deferredUpdate !== undefined && !call.secondary) {
    await tryDeferredUpdate(runtime, outcome.deferredUpdate);
  }
  return outcome;
}

/** A read has succeeded by then: it must not fail because nobody could write down that it was. */
async function tryDeferredUpdate(
  { store, content, log }: Runtime,
  update: DeferredUpdate,
): Promise<void> {
  try {
    await store.transact((tx) => applyDeferredUpdate(content, tx, update));
  } catch (error) {
    log?.warn({ err: error }, "a read could not be noted down");
  }
}

/** The checks alone, so that a doomed upload is refused before its body is received. */
export function precheck(runtime: Runtime, call: Call): Promise<Outcome | undefined> {
  const { store, content } = runtime;
  const work = async (view: View): Promise<Outcome | undefined> =>
    check(call, await call.resource.load(new Records(view, content), call), view.now);
  return store.snapshot(work, prefetchOptions(content, call));
}
