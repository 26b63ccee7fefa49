import type { Ticks } from "../../base/ticks.ts";
import type { ContentReader } from "../../content/content.ts";
import type { Effect } from "../../operation/effects.ts";
import { newId } from "../../operation/identifiers.ts";
import { QuotaExceeded } from "../../operation/quotas.ts";
import type { WaitDecision } from "../../operation/reply.ts";
import type { RecordView } from "../../operation/view.ts";
import { runOnce, type Attempt, type Runtime, type WaitOutcome } from "../../operation/work.ts";
import { markOpenChange, nodeEvents, writesEvents, type FileApi } from "../events.ts";
import type { ShareAddress } from "./file-reference.ts";
import type {
  Done,
  FaultDecision,
  FileDecision,
  FileReply,
  Failed,
  FileOutcome,
  FileResult,
} from "./file-result.ts";

/** Executes the file operations of SMB clients, each declared as an `SmbOperation`: load, check,
 *  read, decide and apply in one transaction, as `operation/run.ts` does for REST. */

/** What the `check` and `reads` functions of an operation get. */
export interface LoadedContext<Request, Loaded> {
  readonly now: Ticks;
  readonly request: Request;
  readonly loaded: Loaded;
}

/** What the `decide` function of an operation gets: also what its `reads` returned. */
export interface FileDecisionContext<Request, Loaded, Seen> extends LoadedContext<Request, Loaded> {
  readonly readResult: Seen;
  readonly newId: () => bigint;
}

/** The result of `check`. If it passes, it is a list of effects (breaks of caching grants that the
 *  access starts), which are applied with those of the reply. */
export type CheckDecision = readonly Effect[] | FaultDecision | WaitDecision;

/** The declaration of one file operation of SMB, which `executeOperation` runs. */
export interface SmbOperation<Request, Loaded, Seen, Value> {
  readonly name: string;
  /** Writers run in a transaction, readers on a store snapshot. */
  readonly effect: "reads" | "writes";
  /** Set if the operation may use the last space of a full disk, because it frees space. */
  readonly mayUseReserve?: true;
  /** Which event a change by the operation is in the event log of the account. */
  readonly event: FileApi;
  /** The share that is changed, whose account has the quota and the event log; undefined if the
   *  operation only reads. */
  readonly share?: (request: Request) => ShareAddress;
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

interface DoneReading<T> extends Done<T> {
  /** Reads the content of the reply; undefined if the reply has none. The caller must close it. */
  readonly reader: ContentReader | undefined;
}

type OperationOutcome<T> = DoneReading<T> | Failed | WaitOutcome;

/** Runs one operation in one transaction: load, check, read, decide, apply effects. An operation
 *  that only reads runs on a store snapshot. Called through `callOf`, or directly by operations
 *  with a prepared request. */
export async function executeOperation<Request, Loaded extends object, Seen, Value>(
  runtime: Runtime,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<OperationOutcome<Value>> {
  const { effect, mayUseReserve } = operation;
  try {
    return await runOnce<OperationOutcome<Value>>(runtime, {
      effect,
      mayUseReserve,
      attempt: (attempt) => runOperation(attempt, operation, request),
    });
  } catch (error) {
    if (error instanceof QuotaExceeded) return failed({ fault: "disk-full" });
    throw error;
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

/** Makes the function that `smb/operations` calls from the declaration of an operation. */
export function callOf<Request, Loaded extends object, Seen, Value>(
  operation: SmbOperation<Request, Loaded, Seen, Value>,
) {
  return (runtime: Runtime, request: Request): Promise<FileOutcome<Value>> =>
    executeOperation(runtime, operation, request);
}

/** Like `callOf`, for an operation that never waits: it breaks no caching grants. */
export function callAtOnce<Request, Loaded extends object, Seen, Value>(
  operation: SmbOperation<Request, Loaded, Seen, Value>,
) {
  return (runtime: Runtime, request: Request): Promise<FileResult<Value>> =>
    executeAtOnce(runtime, operation, request);
}

async function runOperation<Request, Loaded extends object, Seen, Value>(
  attempt: Attempt,
  operation: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
): Promise<OperationOutcome<Value>> {
  const { runtime, records, now, tx } = attempt;
  if (tx !== undefined) attempt.usage = runtime.quotas?.usageOf(operation.share?.(request).account);
  const loaded = await operation.load(records, request);
  if ("fault" in loaded) return failed(loaded);
  const context = { now, request, loaded };
  const checked = operation.check?.(context) ?? noEffects;
  if ("fault" in checked) return failed(checked);
  if ("wait" in checked) return wait(attempt, checked);
  const { reads } = operation;
  const readResult = (reads === undefined ? undefined : await reads(records, context)) as Seen;
  const decision = operation.decide({
    now,
    request,
    loaded,
    readResult,
    newId: () => newId(runtime.random),
  });
  if ("wait" in decision) return wait(attempt, decision);
  const { effects = noEffects } = decision;
  if ("fault" in decision) {
    await attempt.apply(effects);
    return failed(decision);
  }
  await attempt.apply(checked.length === 0 ? effects : [...checked, ...effects]);
  const { changes, openChange } = decision;
  if (changes !== undefined || openChange !== undefined) {
    await attempt.apply(await eventEffects(attempt, operation, request, decision));
  }
  const reader = decision.content && runtime.content.open(attempt.view, decision.content);
  return { kind: "done", value: decision.value, reader };
}

const noEffects: readonly Effect[] = [];

/** The effects that write the events of a reply; none if the account has no event log. */
async function eventEffects<Request, Loaded, Seen, Value>(
  { records, now }: Attempt,
  { name, event, share: shareOf }: SmbOperation<Request, Loaded, Seen, Value>,
  request: Request,
  { changes = [], openChange }: FileReply<Value>,
): Promise<readonly Effect[]> {
  const address = shareOf?.(request);
  if (address === undefined || event === "none") throw new Error(`${name} declares no event`);
  if (!(await writesEvents(records, address))) return noEffects;
  const { account, id: share, name: shareName } = address;
  const context = { account, share, shareName, event, now };
  const marks = openChange && (await markOpenChange(records, { share, ...openChange }));
  return [...(marks ?? []), ...(await nodeEvents(records, context, changes))];
}

async function wait(attempt: Attempt, decision: WaitDecision): Promise<WaitOutcome> {
  await attempt.apply(decision.effects);
  return { kind: "wait", ...decision };
}

function failed({ fault }: FaultDecision): Failed {
  return { kind: "fault", fault };
}
