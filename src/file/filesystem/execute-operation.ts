import type { Awaitable } from "../../base/awaitable.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ContentReader } from "../../content/content.ts";
import { applyEffects } from "../../operation/apply.ts";
import type { Effect } from "../../operation/effects.ts";
import type { Runtime } from "../../operation/execute.ts";
import { newId } from "../../operation/identifiers.ts";
import { Records } from "../../operation/records.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Done, FaultDecision, FileDecision, FileWait, Failed } from "./file-result.ts";
import type { FileWaitDecision } from "./file-result.ts";

/** What the checks and `reads` of an operation see. */
export interface LoadedContext<Request, Loaded> {
  readonly now: Ticks;
  readonly request: Request;
  readonly loaded: Loaded;
}

export interface FileDecisionContext<Request, Loaded, Seen> extends LoadedContext<Request, Loaded> {
  /** What `reads` returned. */
  readonly readResult: Seen;
  readonly newId: () => bigint;
}

/** A check passes with the effects that the operation has in addition, such as breaks. */
export type CheckDecision = readonly Effect[] | FaultDecision | FileWaitDecision;

/** The declaration of one file operation of SMB. */
export interface SmbOperation<Request, Loaded, Seen, Value> {
  readonly name: string;
  /** Writers run in a transaction, readers on a store snapshot. */
  readonly effect: "reads" | "writes";
  /** Whether it may use the space that is kept for deletions on a full disk. */
  readonly mayUseReserve?: true;
  /** Reads the records that the operation is about, or says why they are missing. */
  readonly load: (view: RecordView, request: Request) => Promise<Loaded | FaultDecision>;
  /** Rejects the operation or makes it wait; derived from the declaration (`handleOperation`). */
  readonly check?: (context: LoadedContext<Request, Loaded>) => CheckDecision;
  /** What else the decision depends on, in the same transaction. */
  readonly reads?: (view: RecordView, context: LoadedContext<Request, Loaded>) => Promise<Seen>;
  /** Pure and synchronous: runs again on fresh data after a conflict. */
  readonly decide: (context: FileDecisionContext<Request, Loaded, Seen>) => FileDecision<Value>;
}

export interface DoneReading<T> extends Done<T> {
  /** Only if the reply has content; the caller closes it. */
  readonly reader: ContentReader | undefined;
}

export type OperationOutcome<T> = DoneReading<T> | Failed | FileWait;

/** Runs one operation: load, check, decide and apply on one state, in one transaction. */
export function executeOperation<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<OperationOutcome<Value>> {
  const { store } = runtime;
  if (operation.effect === "reads") {
    return store.snapshot((view) => attempt(runtime, operation, request, view));
  }
  const work = (tx: Transaction) => attempt(runtime, operation, request, tx);
  return store.transact(work, operation.mayUseReserve && { mayUseReserve: true });
}

/** For operations that break no caching grants: these never wait. */
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
): Promise<OperationOutcome<Value>> {
  const { content, random } = runtime;
  const records = new Records(view, content);
  const loaded = await operation.load(records, request);
  if ("fault" in loaded) return failed(loaded);
  const context = { now: view.now, request, loaded };
  const checked = operation.check?.(context) ?? noEffects;
  if ("fault" in checked) return failed(checked);
  if ("wait" in checked) return wait(runtime, view, checked);
  const { reads } = operation;
  const readResult = (reads === undefined ? undefined : await reads(records, context)) as Seen;
  const decision = operation.decide({ ...context, readResult, newId: () => newId(random) });
  if ("wait" in decision) return wait(runtime, view, decision);
  const { effects = noEffects } = decision;
  if ("fault" in decision) {
    if (effects.length > 0) await apply(runtime, view, effects);
    return failed(decision);
  }
  const all = checked.length === 0 ? effects : [...checked, ...effects];
  if (all.length > 0) await apply(runtime, view, all);
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
): Awaitable<void> {
  if (!("put" in view)) throw new Error("an operation that reads has effects");
  return applyEffects(content, view, effects, view.now, origin);
}
