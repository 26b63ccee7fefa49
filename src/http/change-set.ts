import type { Dialect, IndexedFault } from "../core/dialect.ts";
import { fail, ok, type Failure, type Result } from "../core/result.ts";
import { executeAll } from "../execution/execute-all.ts";
import type { Call, Outcome } from "../execution/execute.ts";
import { TransactionRefused } from "../execution/transaction-refused.ts";
import type { Door, Known, Progress, Target } from "./door.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "./embedded-http.ts";
import { envelopeOf } from "./envelope.ts";
import type { Part, RenderedPart } from "./multipart.ts";
import { PartTemplates } from "./part-templates.ts";
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
  const templates = new PartTemplates<PartRequest>();
  for (const [index, part] of parts.slice(0, transaction.operationsMax).entries()) {
    const found = templates.find(part);
    const read = found === undefined ? readPart(batch, part) : ok(found.part);
    if (!read.ok) return refuse({ index, fault: read.fault });
    requests.push(read.value);
    const call = found?.call ?? (await prepareNew(door, batch, part, read.value, templates));
    if (!call.ok) return refuse({ index, fault: call.fault });
    calls.push(call.value);
  }
  const reader = calls.findIndex(({ operation }) => operation.effect === "reads");
  if (reader >= 0) return refuse({ index: reader, fault: { code: "InvalidInput" } });
  const unfit = transaction.check(calls, parts.length);
  if (unfit !== undefined) return refuse(unfit);
  const outcomes = await executeAll(door.runtime, calls);
  batch.progress.parts = { requests, calls, outcomes };
  if (outcomes instanceof TransactionRefused) {
    const { index, outcome } = outcomes;
    return refuse({ index, fault: faultOf(outcome).fault });
  }
  return outcomes.map((outcome, index) => {
    const { request, progress } = requests[index] ?? batch;
    const plain = plainReply(outcome, dialectOf(door));
    const reply = plain ?? renderOutcome(outcome, envelopeOf(door, request, progress));
    return partOf(door, reply, request);
  });
}

/** A part's answer without what the answer around it says for all; undefined if it has a body. */
function plainReply(outcome: Outcome, { stampHeaders }: Dialect): WireReply | undefined {
  if (outcome.kind !== "reply" || outcome.body !== undefined) return undefined;
  const headers: Record<string, string> = {};
  if (outcome.etag !== undefined) Object.assign(headers, stampHeaders(outcome.etag));
  for (const group of outcome.headers) {
    for (const name in group) {
      const value = group[name];
      if (value !== undefined) headers[name] = value;
    }
  }
  return { status: outcome.status, headers, body: undefined };
}

export function readPart({ request, progress }: Batch, part: Part): Result<PartRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const { requestId } = progress;
  return ok({ request: wireRequestOf(embedded.value, request), progress: { requestId } });
}

/** As `preparePart`, for the first part with its head. */
async function prepareNew(
  door: Door,
  batch: Batch,
  part: Part,
  read: PartRequest,
  templates: PartTemplates<PartRequest>,
): Promise<Result<Call>> {
  let place: Target | undefined;
  const call = await preparePart(door, batch, read, (target) => {
    place = target;
  });
  if (call.ok && place !== undefined) {
    templates.remember(part, read.request, { part: read, target: place, call: call.value });
  }
  return call;
}

/** The caller is the batch's: a part has no credentials of its own, and stays in its account. */
export async function preparePart(
  door: Door,
  batch: Batch,
  { request, progress }: PartRequest,
  onTarget?: (target: Target) => void,
): Promise<Result<Call>> {
  const target = findTarget(door, request, progress);
  if (!target.ok) return target;
  onTarget?.(target.value);
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

const around = { "Content-Type": "application/http", "Content-Transfer-Encoding": "binary" };

export function partOf(door: Door, reply: WireReply, { method }: WireRequest): RenderedPart {
  const { status, headers, body } = reply;
  const own = dialectOf(door).transaction.partHeaders({ method, status, headers });
  return renderEmbeddedReply({ status, headers: own, body }, around);
}

function dialectOf({ service }: Door): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}
