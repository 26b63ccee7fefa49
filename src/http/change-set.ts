import type { Dialect, IndexedFault } from "../core/dialect.ts";
import { fail, ok, type Failure, type Result } from "../core/result.ts";
import { executeAll, TransactionRefused, type Call, type Outcome } from "../execution/execute.ts";
import type { Door, Known, Progress, Target } from "./door.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "./embedded-http.ts";
import { envelopeOf } from "./envelope.ts";
import type { Part, RenderedPart } from "./multipart.ts";
import { choose, prepare } from "./prepare.ts";
import { renderFault, renderOutcome } from "./render.ts";
import { findTarget } from "./target.ts";
import type { WireReply, WireRequest } from "./wire.ts";

/** The request that holds the parts: who asks, for which account, counts for all of them. */
export interface Batch {
  readonly request: WireRequest;
  readonly target: Target;
  readonly known: Known;
  readonly progress: Progress;
}

/** One of the parts on its way. */
interface PartRequest {
  readonly request: WireRequest;
  readonly progress: Progress;
}

/** Every part goes through the steps of a request of its own, from its address to its body; then
 *  all of them take effect together, or the first that cannot is the one answer. */
export async function runChangeSet(
  door: Door,
  batch: Batch,
  parts: readonly Part[],
): Promise<readonly RenderedPart[]> {
  const { transaction } = dialectOf(door);
  const requests: PartRequest[] = [];
  const calls: Call[] = [];
  const refuse = (failure: IndexedFault) => {
    const { request, progress } = requests[failure.index] ?? batch;
    const fault = transaction.fault(failure, parts.length);
    return [partOf(door, renderFault(fault, envelopeOf(door, request, progress)), request)];
  };
  for (const [index, part] of parts.slice(0, transaction.operationsMax).entries()) {
    const read = readPart(batch, part);
    if (!read.ok) return refuse({ index, fault: read.fault });
    requests.push(read.value);
    const call = await preparePart(door, batch, read.value);
    if (!call.ok) return refuse({ index, fault: call.fault });
    calls.push(call.value);
  }
  const reader = calls.findIndex(({ operation }) => operation.effect === "reads");
  if (reader >= 0) return refuse({ index: reader, fault: { code: "InvalidInput" } });
  const unfit = transaction.check(calls, parts.length);
  if (unfit !== undefined) return refuse(unfit);
  const outcomes = await executeAll(door.runtime, calls);
  if (outcomes instanceof TransactionRefused) {
    const { index, outcome } = outcomes;
    return refuse({ index, fault: faultOf(outcome).fault });
  }
  return outcomes.map((outcome, index) => {
    const { request, progress } = requests[index] ?? batch;
    return partOf(door, renderOutcome(outcome, envelopeOf(door, request, progress)), request);
  });
}

export function readPart({ request, progress }: Batch, part: Part): Result<PartRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const { requestId } = progress;
  return ok({ request: wireRequestOf(embedded.value, request), progress: { requestId } });
}

/** The caller is the batch's: a part has no credentials of its own, and stays in its account. */
export async function preparePart(
  door: Door,
  batch: Batch,
  { request, progress }: PartRequest,
): Promise<Result<Call>> {
  const target = findTarget(door, request, progress);
  if (!target.ok) return target;
  const { account } = target.value.location;
  if (account !== batch.target.location.account) return fail("InvalidInput");
  const operation = choose(door, request, target.value, batch.known, progress);
  if (!operation.ok) return operation;
  if (operation.value.body.kind === "transaction") return fail("InvalidInput");
  const { known } = batch;
  const call = await prepare(door, request, target.value, known, operation.value, progress);
  return "outcome" in call ? faultOf(call.outcome) : call;
}

function faultOf(outcome: Outcome): Failure {
  if (outcome.kind !== "fault") throw new Error("only a fault ends a transaction");
  return { ok: false, fault: outcome.fault };
}

export function partOf(door: Door, reply: WireReply, { method }: WireRequest): RenderedPart {
  const { status, headers, body } = reply;
  const own = dialectOf(door).transaction.partHeaders({ method, status, headers });
  const around = { "Content-Type": "application/http", "Content-Transfer-Encoding": "binary" };
  return renderEmbeddedReply({ status, headers: { ...own }, body }, around);
}

function dialectOf({ service }: Door): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}
