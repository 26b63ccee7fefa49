import type { Dialect, IndexedFault } from "../operation/dialect.ts";
import { spend } from "../base/loop-share.ts";
import { fail, ok, type Failure, type Result } from "../protocol/result.ts";
import type { TextBytes } from "../encoding/text-bytes.ts";
import { executeAll } from "../operation/execute-all.ts";
import type { Call, Outcome } from "../operation/execute.ts";
import { TransactionRefused } from "../operation/transaction-refused.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { withoutSecrets } from "./diagnosis/secrets.ts";
import type {
  HttpService,
  AuthenticatedCaller,
  RequestState,
  RequestTarget,
} from "./http-service.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "./embedded-http.ts";
import { envelopeOf } from "./envelope.ts";
import { headerLines, writeMultipart, type Part, type RenderedPart } from "./multipart.ts";
import { PartResponseWriter } from "./part-response-writer.ts";
import { PartCache } from "./part-cache.ts";
import { selectOperation, prepareCall } from "./prepare.ts";
import { renderFault, renderOutcome } from "./render.ts";
import { resolveTarget } from "./target.ts";
import type { WireResponse, WireRequest } from "./wire.ts";

/** The request that holds the parts: who asks, for which account, counts for all of them. */
export interface Batch {
  readonly request: WireRequest;
  readonly target: RequestTarget;
  readonly known: AuthenticatedCaller;
  readonly progress: RequestState;
}

/** One of the parts on its way. */
interface PartRequest {
  readonly request: WireRequest;
  readonly progress: RequestState;
}

interface Answered {
  readonly requests: readonly PartRequest[];
  readonly outcomes: readonly Outcome[];
}

/** Of a part, for a unit of the event loop's time (`base/loop-share.ts`). Shorter parts are not
 *  counted: 100 of them take little, and a transaction that waits for the next iteration misses
 *  the commit of this one. */
const bytesPerUnit = 8192;

/** Writes a multipart body, with nothing to wait for. */
export type WriteParts = (out: TextBytes, boundary: string) => void;

/** Every part goes through the steps of a request of its own, from its address to its body; then
 *  all of them take effect together, or the first that cannot is the one answer. */
export async function runChangeSet(
  door: HttpService,
  batch: Batch,
  parts: readonly Part[],
): Promise<WriteParts> {
  const { transaction } = dialectOf(door);
  const requests: PartRequest[] = [];
  const calls: Call[] = [];
  const refuse = (failure: IndexedFault) => {
    const { request, progress } = requests[failure.index] ?? batch;
    if (door.log.verbose === true) logRefusal(door, request, batch, failure);
    const fault = transaction.fault(failure, parts.length);
    const reply = renderFault(fault, envelopeOf(door, request, progress));
    return writerOf([partOf(door, reply, request)]);
  };
  const templates = new PartCache<PartRequest>();
  const count = Math.min(parts.length, transaction.operationsMax);
  for (let index = 0; index < count; index += 1) {
    const part = parts[index]!;
    const found = templates.find(part);
    const read = found === undefined ? readPart(batch, part) : ok(found.part);
    if (!read.ok) return refuse({ index, fault: read.fault });
    requests.push(read.value);
    const call = found?.call ?? (await prepareNew(door, batch, part, read.value, templates));
    if (!call.ok) return refuse({ index, fault: call.fault });
    calls.push(call.value);
    const bytes = part.to - part.from;
    const wait = bytes < bytesPerUnit ? undefined : spend(bytes / bytesPerUnit);
    if (wait !== undefined) await wait;
  }
  const reader = calls.findIndex(({ operation }) => operation.effect === "reads");
  if (reader >= 0) return refuse({ index: reader, fault: { code: "InvalidInput" } });
  const unfit = transaction.check(calls, parts.length);
  if (unfit !== undefined) return refuse(unfit);
  const outcomes = await executeAll(door.runtime, calls);
  // The batch may be old by now: all that it refers to would outlive it until the next collection
  // of what is old, however short its own life was to be.
  if (door.observer?.watch !== undefined) batch.progress.parts = { requests, calls, outcomes };
  if (outcomes instanceof TransactionRefused) {
    const { index, outcome } = outcomes;
    return refuse({ index, fault: faultOf(outcome).fault });
  }
  return (out, boundary) => writeReplies(door, { requests, outcomes }, out, boundary);
}

/** The answer to the whole says 202: the log has to name the part that was refused. */
function logRefusal(
  door: HttpService,
  request: WireRequest,
  batch: Batch,
  failure: IndexedFault,
): void {
  const { index, fault } = failure;
  const { requestId } = batch.progress;
  const { method, target } = request;
  const fields = { requestId, index, method, url: withoutSecrets(target), code: fault.code };
  door.log.debug({ ...fields, ...diagnose(door, request, fault) }, "transaction refused");
}

function writerOf(parts: readonly RenderedPart[]): WriteParts {
  return (out, boundary) => writeMultipart(out, boundary, parts);
}

function writeReplies(
  door: HttpService,
  { requests, outcomes }: Answered,
  out: TextBytes,
  boundary: string,
): void {
  const before = `--${boundary}\r\n${headerLines(around)}\r\n`;
  const replies = new PartResponseWriter(dialectOf(door), out, before);
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index]!;
    const { request, progress } = requests[index]!;
    if (outcome.kind === "reply" && outcome.body === undefined) {
      replies.write(request.method, outcome);
    } else {
      const reply = renderOutcome(outcome, envelopeOf(door, request, progress));
      const { body } = partOf(door, reply, request);
      out.append(before);
      if (typeof body === "string") out.append(body);
      else out.appendBytes(body, 0, body.length);
    }
    out.append("\r\n");
  }
  out.append(`--${boundary}--\r\n`);
}

export function readPart({ request, progress }: Batch, part: Part): Result<PartRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const { requestId } = progress;
  return ok({ request: wireRequestOf(embedded.value, request), progress: { requestId } });
}

/** As `preparePart`, for the first part with its head. */
async function prepareNew(
  door: HttpService,
  batch: Batch,
  part: Part,
  read: PartRequest,
  templates: PartCache<PartRequest>,
): Promise<Result<Call>> {
  let place: RequestTarget | undefined;
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
  door: HttpService,
  batch: Batch,
  { request, progress }: PartRequest,
  onTarget?: (target: RequestTarget) => void,
): Promise<Result<Call>> {
  const target = resolveTarget(door, request, progress);
  if (!target.ok) return target;
  onTarget?.(target.value);
  const { account } = target.value.location;
  if (account !== batch.target.location.account) return fail("InvalidInput");
  const operation = selectOperation(door, request, target.value, batch.known, progress);
  if (!operation.ok) return operation;
  if (operation.value.body.kind === "transaction") return fail("InvalidInput");
  const { known } = batch;
  const call = await prepareCall(door, request, target.value, known, operation.value, progress);
  return "outcome" in call ? faultOf(call.outcome) : call;
}

function faultOf(outcome: Outcome): Failure {
  if (outcome.kind !== "fault") throw new Error("only a fault ends a transaction");
  return { ok: false, fault: outcome.fault };
}

const around = { "Content-Type": "application/http", "Content-Transfer-Encoding": "binary" };

export function partOf(
  door: HttpService,
  reply: WireResponse,
  { method }: WireRequest,
): RenderedPart {
  const { status, headers, body } = reply;
  const own: Record<string, string> = {};
  const answer = { method, status, header: (name: string) => headers[name] };
  dialectOf(door).transaction.partHeaders(answer, (name, value) => {
    own[name] = value;
  });
  return renderEmbeddedReply({ status, headers: own, body }, around);
}

function dialectOf({ service }: HttpService): Dialect {
  if (service.dialect === undefined) throw new Error(`${service.name} has no dialect`);
  return service.dialect;
}
