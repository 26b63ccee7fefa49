import type { Awaitable } from "../../base/awaitable.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ContentReader } from "../../content/content.ts";
import { applyEffects } from "../../operation/apply.ts";
import type { Effect } from "../../operation/effects.ts";
import type { Runtime } from "../../operation/execute.ts";
import { newId } from "../../operation/identifiers.ts";
import { QuotaExceeded, settleUsage } from "../../operation/quotas.ts";
import { Records } from "../../operation/records.ts";
import type { UsageChange } from "../../operation/usage.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Done, FaultDecision, FileDecision, FileWait, Failed } from "./file-result.ts";
import type { FileWaitDecision } from "./file-result.ts";

/** Input of the checks and of `reads` of an operation. */
export interface LoadedContext<Request, Loaded> {
  readonly now: Ticks;
  readonly request: Request;
  readonly loaded: Loaded;
}

/** Input of `decide`. */
export interface FileDecisionContext<Request, Loaded, Seen> extends LoadedContext<Request, Loaded> {
  /** What `reads` returned. */
  readonly readResult: Seen;
  readonly newId: () => bigint;
}

/** The result of a check. If it passes and `decide` returns a reply, its effects are applied with
 *  those of the reply: breaks of caching grants that the access starts. */
export type CheckDecision = readonly Effect[] | FaultDecision | FileWaitDecision;

/** The declaration of one file operation of SMB. */
export interface SmbOperation<Request, Loaded, Seen, Value> {
  readonly name: string;
  /** Writers run in a transaction, readers on a store snapshot. */
  readonly effect: "reads" | "writes";
  /** Whether the operation may use the space that is reserved for deletions on a full disk. */
  readonly mayUseReserve?: true;
  /** Id of the account whose quota limits the operation; undefined if it only reads. */
  readonly account?: (request: Request) => bigint;
  /** Reads the records of the file, or returns the fault for missing ones. */
  readonly load: (view: RecordView, request: Request) => Promise<Loaded | FaultDecision>;
  /** Rejects the operation or lets it wait. For operations through a handle it is derived from the
   *  declaration (`handleOperation`). */
  readonly check?: (context: LoadedContext<Request, Loaded>) => CheckDecision;
  /** Reads, in the same transaction, what the decision depends on besides the records of `load`. */
  readonly reads?: (view: RecordView, context: LoadedContext<Request, Loaded>) => Promise<Seen>;
  /** Pure and synchronous: runs again on fresh data after a conflict. */
  readonly decide: (context: FileDecisionContext<Request, Loaded, Seen>) => FileDecision<Value>;
}

export interface DoneReading<T> extends Done<T> {
  /** Reads the content of the reply; undefined if the reply has none. The caller must close
   *  it. */
  readonly reader: ContentReader | undefined;
}

export type OperationOutcome<T> = DoneReading<T> | Failed | FileWait;

/** Runs one operation in one transaction: load, check, read, decide, apply effects. An operation
 *  that only reads runs on a store snapshot. */
export function executeOperation<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<OperationOutcome<Value>> {
  const { store } = runtime;
  if (operation.effect === "reads") {
    return store.snapshot((view) => attempt(runtime, operation, request, view));
  }
  return write(runtime, operation, request);
}

async function write<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<OperationOutcome<Value>> {
  const { store, quotas } = runtime;
  const { account, mayUseReserve } = operation;
  const transaction = { request: {}, isExempt: mayUseReserve === true };
  const work = async (tx: Transaction): Promise<OperationOutcome<Value>> => {
    const usage = quotas?.usageOf(account?.(request));
    const outcome = await attempt(runtime, operation, request, tx, usage);
    if (usage !== undefined) await settleUsage(quotas, tx, usage, transaction);
    return outcome;
  };
  try {
    return await store.transact(work, mayUseReserve && { mayUseReserve: true });
  } catch (error) {
    if (error instanceof QuotaExceeded) return failed({ fault: "disk-full" });
    throw error;
  } finally {
    quotas?.release(transaction.request);
  }
}

/** Runs an operation that breaks no caching grants and therefore never waits. */
export async function executeAtOnce<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<DoneReading<Value> | Failed> {
  const outcome = await executeOperation(runtime, operation, request);
  if (outcome.kind === "wait") throw new Error(`${operation.name} must not wait`);
  return outcome;
}

async function attempt<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
  view: View | Transaction,
  usage?: UsageChange,
): Promise<OperationOutcome<Value>> {
  const { content, random } = runtime;
  const records = new Records(view, content);
  const loaded = await operation.load(records, request);
  if ("fault" in loaded) return failed(loaded);
  const { now } = view;
  const context = { now, request, loaded };
  const checked = operation.check?.(context) ?? noEffects;
  if ("fault" in checked) return failed(checked);
  if ("wait" in checked) return wait(runtime, view, checked);
  const { reads } = operation;
  const readResult = (reads === undefined ? undefined : await reads(records, context)) as Seen;
  const decision = operation.decide({
    now,
    request,
    loaded,
    readResult,
    newId: () => newId(random),
  });
  if ("wait" in decision) return wait(runtime, view, decision);
  const { effects = noEffects } = decision;
  if ("fault" in decision) {
    if (effects.length > 0) await apply(runtime, view, effects, usage);
    return failed(decision);
  }
  const all = checked.length === 0 ? effects : [...checked, ...effects];
  if (all.length > 0) await apply(runtime, view, all, usage);
  const reader = decision.content && content.open(view, decision.content);
  return { kind: "done", value: decision.value, reader };
}

const noEffects: readonly Effect[] = [];

async function wait(
  runtime: Runtime,
  view: View | Transaction,
  { wait: { file }, effects }: FileWaitDecision,
): Promise<FileWait> {
  if (effects.length > 0) await apply(runtime, view, effects);
  return { kind: "wait", file };
}

function failed({ fault }: FaultDecision): Failed {
  return { kind: "fault", fault };
}

function apply(
  { content, origin }: Runtime,
  view: View | Transaction,
  effects: readonly Effect[],
  usage?: UsageChange,
): Awaitable<void> {
  if (!("put" in view)) throw new Error("an operation that reads has effects");
  return applyEffects(content, view, effects, view.now, { origin, usage });
}
