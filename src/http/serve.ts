import type { Awaitable } from "../base/awaitable.ts";
import { actual } from "../protocol/cors.ts";
import type { Fault } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Outcome } from "../operation/execute.ts";
import { newRequestId } from "./request-id.ts";
import { SnapshotTooOld } from "../store/open-views.ts";
import { StoreBusy, StoreClosed, StoreUnavailable } from "../store/store.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { HttpService, RequestState } from "./http-service.ts";
import { runBatch } from "./batch/run-batch.ts";
import { serverBusy } from "./server-busy.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { withoutSecrets } from "./diagnosis/secrets.ts";
import { envelopeOf } from "./envelope.ts";
import { runPipeline } from "./pipeline.ts";
import { addRangeChecksum } from "./range-checksum.ts";
import { BodyAborted, BodyTooSlow } from "./request-body.ts";
import { renderFault, renderOutcome } from "./render.ts";
import { structuredHeader } from "./structured-body.ts";
import type { WireResponse, WireRequest } from "./wire.ts";

/** Answers one request of one service, from the wire and back. */
export async function serveRequest(door: HttpService, request: WireRequest): Promise<WireResponse> {
  const began = door.clock.monotonic();
  const requestId = newRequestId(door.runtime.random);
  const progress: RequestState = { requestId };
  const result = await guarded(door, request, progress);
  const envelope = envelopeOf(door, request, progress);
  const reply = result.ok
    ? renderOutcome(result.value, envelope)
    : renderFault(result.fault, envelope);
  addCors(reply, request, progress);
  addOverrides(reply, progress);
  echoStructured(reply, request, progress);
  const seconds = Number(door.clock.monotonic() - began) / Number(ticksPerSecond);
  const operation = progress.operation?.name ?? "none";
  door.meter.request({ service: door.service.name, operation, status: reply.status, seconds });
  const watch = door.observer?.watch;
  if (watch !== undefined) watch({ door, request, progress, result, reply });
  if (door.log.verbose === true) {
    const fault = faultOf(result);
    logRequest(door, request, reply, { requestId, operation, seconds, fault });
  }
  return reply;
}

interface Served {
  readonly requestId: string;
  readonly operation: string;
  readonly seconds: number;
  readonly fault: Fault | undefined;
}

/** Signatures are secrets, also in a log. */
function logRequest(
  door: HttpService,
  request: WireRequest,
  reply: WireResponse,
  served: Served,
): void {
  const { method, target, remoteAddress } = request;
  const { fault, ...how } = served;
  const url = withoutSecrets(target);
  const code = fault?.code ?? reply.headers["x-ms-error-code"];
  const why = fault && diagnose(door, request, fault);
  const { service } = door;
  const fields = { service: service.name, method, url, status: reply.status, code, ...why };
  door.log.debug({ ...how, ...fields, remoteAddress }, "request");
}

/** Refused before the transaction, or in it. */
function faultOf(result: Result<Outcome>): Fault | undefined {
  if (!result.ok) return result.fault;
  return result.value.kind === "fault" ? result.value.fault : undefined;
}

/** What is left to do before the headers can go: run the parts of a batch, sum up a range. */
function finish(
  door: HttpService,
  request: WireRequest,
  outcome: Outcome,
  progress: RequestState,
): Awaitable<Outcome> {
  if (outcome.kind !== "reply" || outcome.body === undefined) return outcome;
  if (!("batch" in outcome.body)) return addRangeChecksum(outcome);
  return finishBatch(door, request, outcome, progress);
}

async function finishBatch(
  door: HttpService,
  request: WireRequest,
  outcome: Extract<Outcome, { kind: "reply" }>,
  progress: RequestState,
): Promise<Outcome> {
  if (outcome.body === undefined || !("batch" in outcome.body)) return outcome;
  const { batch } = outcome.body;
  const envelope = envelopeOf(door, request, progress);
  const body = await runBatch({ door, request, envelope, batch, serve: serveRequest });
  return body.ok ? { ...outcome, body: body.value } : { kind: "fault", fault: body.fault };
}

/** What escapes the pipeline is a bug or an engine in trouble; either has an answer of the
 *  service's own form. */
async function guarded(
  door: HttpService,
  request: WireRequest,
  progress: RequestState,
): Promise<Result<Outcome>> {
  const { requestId } = progress;
  try {
    const outcome = await runPipeline(door, request, progress);
    if (!outcome.ok) return outcome;
    const finished = finish(door, request, outcome.value, progress);
    return ok(finished instanceof Promise ? await finished : finished);
  } catch (error) {
    // The client went away in the middle of its body: there is nobody to answer.
    if (error instanceof BodyAborted) throw error;
    if (error instanceof BodyTooSlow) return fail("OperationTimedOut");
    if (error instanceof StoreBusy || error instanceof SnapshotTooOld) return serverBusy;
    // This process is stopping, and the request took longer than it waits for.
    if (error instanceof StoreClosed) return serverBusy;
    if (error instanceof StoreUnavailable) {
      door.log.error({ err: error, requestId }, "the storage engine refused a write");
      return serverBusy;
    }
    door.log.error({ err: error, requestId, operation: progress.operation?.name }, "a bug");
    return fail("InternalError");
  }
}

function addCors(
  reply: WireResponse,
  request: WireRequest,
  { cors, operation }: RequestState,
): void {
  if (cors === undefined || cors.length === 0 || request.method === "OPTIONS") return;
  if (operation === undefined) return;
  const origin = request.headers["origin"];
  Object.assign(reply.headers, actual(cors, { origin, method: request.method }));
}

/** Whoever sent a body with checksums in between learns that they were looked at. */
function echoStructured(
  reply: WireResponse,
  request: WireRequest,
  { operation }: RequestState,
): void {
  const form = request.headers[structuredHeader];
  if (form !== undefined && operation?.body.kind === "content" && reply.status < 300) {
    reply.headers[structuredHeader] = form;
  }
}

const overridable = {
  "cache-control": "Cache-Control",
  "content-disposition": "Content-Disposition",
  "content-encoding": "Content-Encoding",
  "content-language": "Content-Language",
  "content-type": "Content-Type",
} as const;

/** `rscc` and its like on a signature replace what a read answers. */
function addOverrides(reply: WireResponse, { principal, operation }: RequestState): void {
  if (operation?.effect !== "reads" || reply.status >= 300) return;
  if (principal?.kind !== "service-sas" && principal?.kind !== "delegation-sas") return;
  if (principal.overrides === undefined) return;
  for (const [name, header] of Object.entries(overridable)) {
    const value = principal.overrides[name as keyof typeof overridable];
    if (value !== undefined) reply.headers[header] = value;
  }
}
