import type { ReceivedBody } from "../content/content-ref.ts";
import { noConditions, type Conditions } from "../protocol/conditions.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { AclCaller } from "../protocol/posix-access.ts";
import type { Delegate, EntityRange } from "../protocol/principal.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Lease } from "../protocol/lease.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { Features } from "../protocol/features.ts";
import { mayUseReserve, type Address, type Operation, type AnyReadContext } from "./operation.ts";
import type { HeaderGroup, DeferredUpdate, RenderedBody } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { Access, AccountPlace, Resource } from "./service.ts";
import type { CopySource } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { ContentReader } from "../content/content.ts";
import type { View } from "../store/store.ts";
import { applyDeferredUpdate } from "./apply.ts";
import { check, checkLast, type Rejection } from "./check.ts";
import type { ClientIdentity, ContentionQueues } from "./contention-queues.ts";
import { accountUsage, QuotaExceeded, usageIn } from "./quotas.ts";
import { Records } from "./records.ts";
import { contextOf, run, type PreviousOperation } from "./run.ts";
import type { RecordView } from "./view.ts";
import { isWaitOutcome, runOnce, runUntilDone } from "./work.ts";
import type { Attempt, Runtime, WaitOutcome, Work } from "./work.ts";

/** Executes operations: loads what a request addresses, checks it, runs the decision and commits
 *  its effects, all in one transaction that starts again after a conflict. `http/` calls `execute`
 *  for a request, `executeAll` for a transaction of several, `precheck` before it receives a
 *  body. */

/** A request after parsing and authentication: an operation with its input. */
export interface Call {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly account: string;
  readonly features: Features;
  /** The revision of the stored identities (users, groups, roles) by which the caller was
   *  authorised; loading compares it with the current one. */
  readonly identityRevision?: bigint | undefined;
  readonly address: Address;
  readonly version: string;
  /** The service URL that the client used. */
  readonly endpoint: string;
  /** Whether the request was sent to the secondary endpoint, which only reads. */
  readonly secondary: boolean;
  readonly accountPlace?: AccountPlace | undefined;
  readonly input: object;
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
  /** The body of the request, or the bytes that were fetched from a copy source: already stored in
   *  extents or in memory. */
  readonly received: ReceivedBody | undefined;
  readonly requestId: string;
  /** The x-ms-client-request-id of the client; undefined if it sent none. */
  readonly clientRequestId: string | undefined;
  /** The range of entities that the table SAS of the request is limited to; undefined: no limit. */
  readonly entities?: EntityRange | undefined;
  /** Identifies the client in the contention queues; undefined: it does not wait. */
  readonly clientIdentity?: ClientIdentity | undefined;
  /** The source of a copy; undefined if the operation has none. */
  readonly source: CopySource | undefined;
  /** Derives a user delegation key; undefined without a bearer token. */
  readonly delegate: Delegate | undefined;
  /** Object id of the user for whom the request acts. */
  readonly callerId?: string | undefined;
  /** Returns the caller that access control lists limit; undefined for none. */
  readonly aclCaller?: (() => AclCaller | undefined) | undefined;
  /** Whether the SAS of the request has a permission beside those of the operation, which some
   *  parameters need; undefined: the credentials are no SAS. */
  readonly permits?: ((letter: string, access: Access | undefined) => boolean) | undefined;
  /** Checks access once the access policies and the target are loaded. */
  readonly authorise: (
    access: Access | undefined,
    exists: boolean,
    address: Address,
  ) => Result<void>;
}

/** The result of a call. `rejection` is for the request feed of the admin API. */
export type Outcome =
  | {
      readonly kind: "reply";
      readonly status: number;
      readonly headers: readonly HeaderGroup[];
      readonly metadata: Metadata | undefined;
      readonly etag: Ticks | undefined;
      readonly body: RenderedBody | undefined;
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

/** The CORS rules of the service, for the headers of the response; undefined if the target's scope
 *  was not loaded. */
type CorsRules = readonly CorsRule[] | undefined;

/** The fields that all records with an ETag share. */
export interface ETaggedRecord {
  readonly etag?: Ticks;
  readonly lease?: Lease | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** Executes one call: load, check and decide on one state, commit if nothing that was read has
 *  changed. */
export function execute(runtime: Runtime, call: Call): Promise<Outcome> {
  const { contentionQueues } = runtime;
  const { clientIdentity: client } = call;
  if (contentionQueues === undefined || client === undefined) return executeNow(runtime, call);
  // Clients that read and conditionally write one resource in a loop take turns. Only conditional
  // writes contend; a read waits only if an earlier conditional write of its client has failed.
  const isContested =
    call.operation.effect === "reads"
      ? !contentionQueues.isEmpty
      : call.conditions !== noConditions;
  return isContested
    ? executeInOrder(runtime, call, contentionQueues, client)
    : executeNow(runtime, call);
}

/** Waits for earlier clients in the contention queue of the resource, then executes the call. */
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

/** The name of the addressed resource, under which its clients share a contention queue. */
function nameOf({ account, address }: Call): string {
  return `${account} ${Object.values(address).join(" ")}`;
}

function executeNow(runtime: Runtime, call: Call): Promise<Outcome> {
  const { operation } = call;
  const { effect, runInBatch } = operation;
  const work: Work<Outcome | WaitOutcome> = {
    effect,
    runInBatch,
    mayUseReserve: mayUseReserve(operation),
    prefetch: (view) => prefetch(runtime, call, view),
    attempt: (attempt) => run(attempt, call),
  };
  const finish = call.secondary ? undefined : deferUpdate;
  return runUntilDone<Outcome>(runtime, work, { operation: operation.name }, finish);
}

function deferUpdate(runtime: Runtime, outcome: Outcome): Promise<void> | undefined {
  const update = outcome.kind === "reply" ? outcome.deferredUpdate : undefined;
  return update && tryDeferredUpdate(runtime, update);
}

/** Writes the deferred update of a read, for example the last access time. A failure is only
 *  logged: the read has succeeded, and must not fail because of this write. */
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
 *  body is received. Undefined if all pass. `bodyBytes` is its announced length; undefined if it
 *  has none. Throws `QuotaExceeded` if a body of this length cannot fit. */
export function precheck(
  runtime: Runtime,
  call: Call,
  bodyBytes?: number,
): Promise<Outcome | undefined> {
  return runOnce<Outcome | undefined>(runtime, {
    effect: "reads",
    prefetch: (view) => prefetch(runtime, call, view),
    attempt: async ({ records, now }) => {
      const loaded = await call.resource.load(records, call);
      const outcome = check(call, loaded, now) ?? checkLast(call, loaded, now);
      const isChecked = outcome === undefined && bodyBytes !== undefined && loaded.scope.ok;
      if (!isChecked) return outcome;
      const context = contextOf(runtime, call, loaded, now);
      return checkLength(records, call, { context, cors: loaded.cors, bodyBytes });
    },
  });
}

/** Checks the announced length of a body against the limits of the operation, and against the quota
 *  of its account. */
async function checkLength(
  records: RecordView,
  { operation }: Call,
  announced: {
    readonly context: AnyReadContext;
    readonly cors: CorsRules;
    readonly bodyBytes: number;
  },
): Promise<Outcome | undefined> {
  const { context, cors, bodyBytes } = announced;
  const fits = await operation.checkBodyLength?.(records, context, bodyBytes);
  if (fits?.ok === false) return { kind: "fault", fault: fits.fault, cors };
  const usage = operation.freedBytes === undefined ? undefined : usageIn(context.scope);
  if (usage?.quota.isCounted !== true) return undefined;
  const { account, quota } = usage;
  const used = Number(await records.count(accountUsage.key(account)));
  if (used + bodyBytes <= quota.quotaBytes) return undefined;
  const freed = (await operation.freedBytes?.(records, context)) ?? 0;
  if (used + bodyBytes - freed <= quota.quotaBytes) return undefined;
  throw new QuotaExceeded(`${bodyBytes} bytes more than ${used} exceed ${quota.quotaBytes}`);
}

/** Reads what the operation will read (target, scope and its `reads`), so that a database fetches
 *  all of it at once. Decides nothing, because the view may be stale. */
async function prefetch(runtime: Runtime, call: Call, view: View): Promise<void> {
  const records = new Records(view, runtime.content);
  const { operation } = call;
  const loaded = await call.resource.load(records, call);
  if (!loaded.scope.ok || operation.reads === undefined) return;
  if (loaded.target === undefined && operation.target === "must-exist") return;
  await operation.reads(records, contextOf(runtime, call, loaded, view.now));
}

/** Thrown inside the transaction of `executeAll`, so that no operation is committed. `index` (from
 *  0) is the operation that failed, `outcome` its outcome. */
export class TransactionRejected extends Error {
  override readonly name = "TransactionRejected";
  readonly index: number;
  readonly outcome: Outcome;

  constructor(index: number, outcome: Outcome) {
    super(`the operation at index ${index} was rejected`);
    this.index = index;
    this.outcome = outcome;
  }
}

/** Runs several operations in one transaction: all of them take effect, or none does. Returns their
 *  outcomes, or the rejection of the first operation that fails. */
export async function executeAll(
  runtime: Runtime,
  calls: readonly Call[],
): Promise<readonly Outcome[] | TransactionRejected> {
  try {
    return await runOnce<readonly Outcome[]>(runtime, {
      effect: "writes",
      mayUseReserve: calls.every(({ operation }) => mayUseReserve(operation)),
      prefetch: (view) => Promise.allSettled(calls.map((call) => prefetch(runtime, call, view))),
      attempt: (attempt) => runAll(attempt, calls),
    });
  } catch (error) {
    if (error instanceof TransactionRejected) return error;
    throw error;
  }
}

async function runAll(attempt: Attempt, calls: readonly Call[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const records = new Records(attempt.view, attempt.runtime.content, { decoded: new Map() });
  const previous: PreviousOperation = { call: undefined, loaded: undefined };
  for (const call of calls) {
    const running = run(attempt, call, records, previous);
    const outcome = running instanceof Promise ? await running : running;
    if (isWaitOutcome(outcome)) throw new Error(`${call.operation.name} must not wait in a batch`);
    if (outcome.kind !== "reply") throw new TransactionRejected(outcomes.length, outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}
