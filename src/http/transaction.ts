import type { Dialect, IndexedFault } from "../core/dialect.ts";
import type { Fault } from "../core/faults.ts";
import { fail, ok, type Result } from "../core/result.ts";
import {
  execute,
  executeAll,
  TransactionRefused,
  type Call,
  type Outcome,
} from "../execution/execute.ts";
import { newGuid } from "../execution/identifiers.ts";
import { collect } from "./body.ts";
import type { Door, Known, Progress, Target } from "./door.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "./embedded-http.ts";
import { envelopeOf } from "./envelope.ts";
import { boundaryOf, parseMultipart, renderMultipart } from "./multipart.ts";
import type { Part, RenderedPart } from "./multipart.ts";
import { choose, prepare } from "./prepare.ts";
import { renderFault, renderOutcome } from "./render.ts";
import { findTarget } from "./target.ts";
import type { WireReply, WireRequest } from "./wire.ts";

/** The request that holds the parts: who asks, for which account, counts for all of them. */
export interface Batch {
  readonly target: Target;
  readonly known: Known;
  readonly bytesMax: number;
}

/** Beyond what any transaction may hold, so that its own limit is what clients hear of. */
const partsMax = 1000;

/** A change set runs in one transaction; a batch may instead hold a single query. Every part goes
 *  through the steps of a request of its own, from its address to its body. */
export async function runTransaction(
  door: Door,
  request: WireRequest,
  batch: Batch,
  progress: Progress,
): Promise<Result<Outcome>> {
  const boundary = boundaryOf(request.headers["content-type"] ?? "");
  if (boundary === undefined) return fail("InvalidInput");
  if (Number(request.headers["content-length"] ?? 0) > batch.bytesMax) {
    return fail("ContentLengthExceeded");
  }
  request.proceed();
  const bytes = await collect(request, batch.bytesMax);
  if (!bytes.ok) return fail("ContentLengthExceeded");
  const parts = parseMultipart(bytes.value, boundary, { partsMax });
  if (!parts.ok) return parts;
  const [only] = parts.value;
  if (only === undefined || parts.value.length > 1) return fail("InvalidInput");
  const inner = boundaryOf(only.headers["content-type"] ?? "");
  if (inner === undefined) return runQuery(door, request, batch, progress, only);
  const changes = parseMultipart(only.body, inner, { partsMax });
  if (!changes.ok) return changes;
  const replies = await runChanges(door, request, batch, progress, changes.value);
  const id = newGuid(door.runtime.random);
  const body = renderMultipart(`changesetresponse_${id}`, replies);
  const type = `multipart/mixed; boundary=changesetresponse_${id}`;
  // The closing line of the change set is followed by that of the batch, with no line between.
  const part = { headers: { "Content-Type": type }, body: body.subarray(0, -2) };
  return ok(answer(door, [part]));
}

async function runQuery(
  door: Door,
  request: WireRequest,
  batch: Batch,
  progress: Progress,
  part: Part,
): Promise<Result<Outcome>> {
  const prepared = await preparePart(door, request, batch, progress, part);
  if (!prepared.ok) return prepared;
  const { call } = prepared.value;
  if (call.operation.effect !== "reads") return fail("InvalidInput");
  const outcome = await execute(door.runtime, call);
  const reply = renderOutcome(outcome, envelopeOf(door, prepared.value.request, progress));
  return ok(answer(door, [partOf(door, reply, prepared.value.request)]));
}

async function runChanges(
  door: Door,
  request: WireRequest,
  batch: Batch,
  progress: Progress,
  parts: readonly Part[],
): Promise<readonly RenderedPart[]> {
  const { transaction } = dialectOf(door);
  const refuse = ({ index, fault }: IndexedFault, at: WireRequest) => {
    const told = transaction.fault({ index, fault }, parts.length);
    return [partOf(door, renderFault(told, envelopeOf(door, at, progress)), at)];
  };
  if (parts.length === 0) return [];
  const prepared: Prepared[] = [];
  for (const [index, part] of parts.slice(0, transaction.operationsMax).entries()) {
    const next = await preparePart(door, request, batch, progress, part);
    if (!next.ok) return refuse({ index, fault: next.fault }, embeddedOr(request, part));
    prepared.push(next.value);
  }
  const requestAt = (index: number) => prepared[index]?.request ?? request;
  const unfit = checkCount(parts.length, transaction.operationsMax) ?? checkParts(door, prepared);
  if (unfit !== undefined) return refuse(unfit, requestAt(unfit.index));
  const done = await executeAll(
    door.runtime,
    prepared.map(({ call }) => call),
  );
  if (done instanceof TransactionRefused) {
    const { index, outcome } = done;
    const fault: Fault = outcome.kind === "fault" ? outcome.fault : { code: "InvalidInput" };
    return refuse({ index, fault }, requestAt(index));
  }
  return done.map((outcome, index) => {
    const at = requestAt(index);
    return partOf(door, renderOutcome(outcome, envelopeOf(door, at, progress)), at);
  });
}

interface Prepared {
  readonly request: WireRequest;
  readonly call: Call;
}

/** The caller is the batch's: a part has no credentials of its own, and stays in its account. */
async function preparePart(
  door: Door,
  request: WireRequest,
  { target: around, known }: Batch,
  progress: Progress,
  part: Part,
): Promise<Result<Prepared>> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const wire = wireRequestOf(embedded.value, request);
  const partProgress: Progress = { requestId: progress.requestId };
  const target = findTarget(door, wire, partProgress);
  if (!target.ok) return target;
  if (target.value.location.account !== around.location.account) return fail("InvalidInput");
  const operation = choose(door, wire, target.value, known, partProgress);
  if (!operation.ok) return operation;
  if (operation.value.body.kind === "transaction") return fail("InvalidInput");
  const call = await prepare(door, wire, target.value, known, operation.value, partProgress);
  if ("outcome" in call) {
    const { outcome } = call;
    return outcome.kind === "fault" ? { ok: false, fault: outcome.fault } : fail("InvalidInput");
  }
  return call.ok ? ok({ request: wire, call: call.value }) : call;
}

/** Recorded: one operation too many is held against the last that would have fitted. */
function checkCount(count: number, operationsMax: number): IndexedFault | undefined {
  if (count <= operationsMax) return undefined;
  const message =
    "The batch request operation exceeds the maximum " + `${operationsMax} changes per change set.`;
  return { index: operationsMax - 1, fault: { code: "InvalidInput", detail: { message } } };
}

function checkParts(door: Door, prepared: readonly Prepared[]): IndexedFault | undefined {
  const reader = prepared.findIndex(({ call }) => call.operation.effect === "reads");
  if (reader >= 0) return { index: reader, fault: { code: "InvalidInput" } };
  return dialectOf(door).transaction.check(prepared.map(({ call }) => call));
}

/** The part that failed, if it could be read at all: its headers say how to tell. */
function embeddedOr(request: WireRequest, part: Part): WireRequest {
  const embedded = parseEmbeddedRequest(part);
  return embedded.ok ? wireRequestOf(embedded.value, request) : request;
}

function partOf(door: Door, reply: WireReply, { method }: WireRequest): RenderedPart {
  const { status, headers, body } = reply;
  const own = dialectOf(door).transaction.partHeaders({ method, status, headers });
  const around = { "Content-Type": "application/http", "Content-Transfer-Encoding": "binary" };
  return renderEmbeddedReply({ status, headers: { ...own }, body }, around);
}

function answer(door: Door, parts: readonly RenderedPart[]): Outcome {
  const boundary = `batchresponse_${newGuid(door.runtime.random)}`;
  const bytes = renderMultipart(boundary, parts);
  return {
    kind: "reply",
    status: 202,
    headers: { "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff" },
    metadata: undefined,
    etag: undefined,
    body: { type: `multipart/mixed; boundary=${boundary}`, bytes },
    reader: undefined,
  };
}

function dialectOf({ service }: Door): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}
