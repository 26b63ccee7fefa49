import type { Awaitable } from "../base/awaitable.ts";
import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import { AccountChanged } from "../account/service-resource.ts";
import { fail, ok, type Failure, type Result } from "../protocol/result.ts";
import { isRoleCaller } from "../protocol/roles/role.ts";
import { execute, type Call, type Outcome } from "../operation/execute.ts";
import { QuotaExceeded } from "../operation/quotas.ts";
import type { Batch, ReplyBody } from "../operation/reply.ts";
import { StoreBusy, StoreClosed, StoreUnavailable } from "../store/store.ts";
import { checkPermission } from "./auth/authorise-call.ts";
import { prepareCall, renewCall, selectOperation } from "./request/prepare.ts";
import { runBatch } from "./batch/run-batch.ts";
import { tracedService, type HttpService, type Observer } from "./http-service.ts";
import type { ResponseMeter } from "./handler.ts";
import { BodyAborted, BodyTooSlow } from "./request/request-body.ts";
import {
  rejected,
  type AddressedRequest,
  type CompletedRequest,
  type ReceivedRequest,
  type RequestContext,
  type SelectedRequest,
} from "./request/request-context.ts";
import { envelopeOf, renderResponse } from "./render.ts";
import { overQuota, serverBusy } from "./limits/processing-limits.ts";
import { authenticate, identifyTarget, locateRequest, verifyToken } from "./request/target.ts";
import { runTransaction } from "./batch/transaction.ts";
import type { WireRequest, WireResponse } from "./wire.ts";
import { encodeBase64 } from "../base/base64.ts";
import type { ContentRef } from "../content/content-ref.ts";
import { md5Of, crc64BytesOf } from "../content/body/checksums.ts";
import type { Fault } from "../protocol/faults.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { withoutSecrets } from "./diagnosis/secrets.ts";

/*
 * All steps of a request, in order. The first fault ends it; the response is then rendered from the
 * last context that was reached.
 *
 * | step            | takes                | returns                           | file           |
 * |-----------------|----------------------|-----------------------------------|----------------|
 * | locateRequest   | ReceivedRequest      | LocatedRequest                    | target         |
 * | identifyTarget  | LocatedRequest       | AddressedRequest                  | target         |
 * | verifyToken     | AddressedRequest     | the same, with a token's verdict  | target, auth/  |
 * | authenticate    | AddressedRequest     | AuthenticatedRequest              | target, auth/  |
 * | selectOperation | AuthenticatedRequest | SelectedRequest                   | prepare        |
 * | checkPermission | SelectedRequest      | nothing                           | authorise-call |
 * | prepareCall     | SelectedRequest      | Call, or Outcome of the precheck  | prepare        |
 * | - parseRequest  | SelectedRequest      | ParsedRequest                     | prepare        |
 * | - findSource    | ParsedRequest        | CopySource                        | source/        |
 * | - receive       | ParsedRequest        | the body, parsed or stored        | body           |
 * | execute         | Call                 | Outcome                           | ../operation   |
 * | completeReply   | Outcome              | Outcome with sub-responses, hash  | batch/         |
 * | renderResponse  | CompletedRequest     | WireResponse                      | response       |
 * | reportRequest   | both of them         | nothing: log, event feed          | report         |
 *
 * A table transaction replaces `prepareCall` and `execute` by `runTransaction`: each part takes
 * the steps up to `prepareCall`, then all of them are executed together.
 */

/** Serves a request of a listener. Rejects only if the client disconnects while it sends the
 *  body. */
export async function handleRequest(
  http: HttpService,
  request: WireRequest,
): Promise<WireResponse> {
  const startedAt = http.log.verbose === true ? http.clock.monotonic() : 0n;
  const { tracer } = http;
  const span = tracer?.begin(request);
  const requestId = http.requestIds.next();
  const received = { request: span === undefined ? request : { ...request, span }, requestId };
  let completed: CompletedRequest;
  try {
    completed = await runSteps(span === undefined ? http : tracedService(http, span), received);
  } catch (error) {
    if (error instanceof BodyAborted && span !== undefined) tracer?.abort(span, request, error);
    completed = rejected(received, faultOf(http, received, error));
  }
  const response = renderResponse(http, completed);
  reportRequest(http, completed, response, startedAt);
  if (tracer !== undefined) {
    // Lists the fields, because a spread takes longer than the rest of an unsampled request.
    const { context, call, result, parts } = completed;
    tracer.complete(span, { context, call, result, parts, http, reply: response });
  }
  if (span !== undefined) response.finished = () => span.end();
  return response;
}

/** Serves a request that this process sends to itself: a part of a batch, or for a copy source. It
 *  is measured here, because no listener sends its response. */
export async function serveRequest(http: HttpService, request: WireRequest): Promise<WireResponse> {
  const startedAt = http.clock.monotonic();
  const response = await handleRequest(http, request);
  const seconds = Number(http.clock.monotonic() - startedAt) / Number(ticksPerSecond);
  meterOf(http)(response, seconds);
  response.finished?.();
  return response;
}

/** Counts a response, and the duration of the request, in the metrics of the service. */
export function meterOf({ meter, service }: HttpService): ResponseMeter {
  return ({ operation = "none", status }, seconds) =>
    meter.request({ service: service.name, operation, status, seconds });
}

function runSteps(
  http: HttpService,
  received: ReceivedRequest,
  mayRepeat = true,
): Awaitable<CompletedRequest> {
  if (received.request.isSurplus === true) return rejected(received, serverBusy);
  const located = locateRequest(http, received);
  if (!located.ok) return rejected(received, located);
  const addressed = identifyTarget(http, located.value);
  if (!addressed.ok) return rejected(located.value, addressed);
  const verified = verifyToken(http, addressed.value);
  if (!(verified instanceof Promise)) return runAuthenticated(http, verified, mayRepeat);
  return verified.then((request) => runAuthenticated(http, request, mayRepeat));
}

function runAuthenticated(
  http: HttpService,
  addressed: AddressedRequest,
  mayRepeat: boolean,
): Awaitable<CompletedRequest> {
  const authenticated = authenticate(http, addressed);
  if (!authenticated.ok) {
    const completed = rejected(addressed, authenticated);
    return mayRepeat ? repeatIfChanged(http, addressed, completed) : completed;
  }
  const { requestsPerSecondMax, name } = authenticated.value.settings;
  const isWithinRate =
    requestsPerSecondMax === 0 || http.rates?.admits(name, requestsPerSecondMax) !== false;
  if (!isWithinRate) return rejected(authenticated.value, serverBusy);
  const selected = selectOperation(http, authenticated.value);
  if (!selected.ok) return rejected(authenticated.value, selected);
  const permitted = checkPermission(http, selected.value);
  if (!permitted.ok) {
    const completed = rejected(selected.value, permitted);
    // Another process may have assigned a role since this one read the account, so the check is
    // repeated if it has changed.
    const isOpen = mayRepeat && isRoleCaller(selected.value.principal);
    return isOpen ? repeatIfChanged(http, addressed, completed) : completed;
  }
  return runOperation(http, selected.value);
}

/** Runs a rejected request again if an account has changed since this process read it: another
 *  process may have created the account or replaced its key. */
async function repeatIfChanged(
  http: HttpService,
  { request, requestId }: ReceivedRequest,
  completed: CompletedRequest,
): Promise<CompletedRequest> {
  const hasChanged = (await http.accounts.refresh?.()) === true;
  return hasChanged ? runSteps(http, { request, requestId }, false) : completed;
}

/** Prepares and executes the call, then frees the bytes of the body to which no record refers. One
 *  function, because each further asynchronous one costs every request an allocation and an
 *  iteration of the microtask queue. */
async function runOperation(
  http: HttpService,
  selected: SelectedRequest,
): Promise<CompletedRequest> {
  let call: Call | undefined;
  try {
    if (selected.operation.body.kind === "transaction") return await runTransaction(http, selected);
    const preparing = prepareCall(http, selected);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    if ("outcome" in prepared) {
      return { context: selected, call: prepared.call, result: ok(prepared.outcome) };
    }
    if (!prepared.ok) return rejected(selected, prepared);
    call = prepared.value;
    const isLarge = call.operation.largeResponse === true;
    const executed = await (isLarge ? executeLarge(http, call) : execute(http.runtime, call));
    const completed = complete(http, selected, call, executed);
    return completed instanceof Promise ? await completed : completed;
  } catch (error) {
    if (error instanceof AccountChanged) return await runAgain(http, selected, call, error);
    return rejected(selected, faultOf(http, selected, error));
  } finally {
    if (call?.received !== undefined) http.runtime.content.discard(call.received);
  }
}

function complete(
  http: HttpService,
  context: SelectedRequest,
  call: Call,
  executed: Outcome,
): Awaitable<CompletedRequest> {
  const completed = completeReply(http, context, executed);
  if (!(completed instanceof Promise)) return { context, call, result: ok(completed) };
  return completed.then((outcome) => ({ context, call, result: ok(outcome) }));
}

/** Executes an operation with a large response (a listing, for example) when `LargeResponseLimiter`
 *  admits it. Answers 503 if too many requests wait or too many large responses are unsent. */
async function executeLarge({ runtime, unsent, processing }: HttpService, call: Call) {
  const { largeResponses } = processing;
  if (largeResponses.isFull || unsent?.makeRoom() === false) return busyOutcome;
  await largeResponses.enter();
  try {
    return await execute(runtime, call);
  } finally {
    largeResponses.leave();
  }
}

const busyOutcome: Outcome = { kind: "fault", fault: serverBusy.fault };

/** Runs a request whose account was changed after it was authenticated. It is authenticated again:
 *  its key may have been replaced. `call` is undefined if the change was found while it was
 *  prepared: then the client has to repeat the request. */
async function runAgain(
  http: HttpService,
  selected: SelectedRequest,
  call: Call | undefined,
  changed: AccountChanged,
): Promise<CompletedRequest> {
  try {
    await http.accounts.refresh?.();
    if (call === undefined) return rejected(selected, faultOf(http, selected, changed));
    const authenticated = authenticate(http, await verifyToken(http, selected));
    if (!authenticated.ok) return { context: selected, call, result: authenticated };
    const renewed = { ...authenticated.value, operation: selected.operation };
    const permitted = checkPermission(http, renewed);
    if (!permitted.ok) return { context: selected, call, result: permitted };
    const executed = await execute(http.runtime, renewCall(http, renewed, call));
    return await complete(http, selected, call, executed);
  } catch (error) {
    if (error instanceof AccountChanged) await http.accounts.refresh?.();
    return rejected(selected, faultOf(http, selected, error));
  }
}

/** Adds what the headers of a response depend on: sub-responses of a batch, the checksum of a
 *  range. */
function completeReply(
  http: HttpService,
  context: SelectedRequest,
  outcome: Outcome,
): Awaitable<Outcome> {
  if (outcome.kind !== "reply" || outcome.body === undefined) return outcome;
  if (!("batch" in outcome.body)) return addRangeChecksum(outcome);
  return runBatchOf(http, context, outcome, outcome.body.batch);
}

async function runBatchOf(
  http: HttpService,
  context: SelectedRequest,
  outcome: Extract<Outcome, { kind: "reply" }>,
  batch: Batch,
): Promise<Outcome> {
  const { request } = context;
  const envelope = envelopeOf(http, context);
  const body = await runBatch({ http, request, envelope, batch, serve: serveRequest });
  return body.ok ? { ...outcome, body: body.value } : { kind: "fault", fault: body.fault };
}

/** Maps an exception to a fault. Rethrows `BodyAborted`, because no client could receive a
 *  response. */
function faultOf({ log }: HttpService, context: RequestContext, error: unknown): Failure {
  const { requestId, operation } = context;
  if (error instanceof BodyAborted) throw error;
  if (error instanceof BodyTooSlow) return fail("OperationTimedOut");
  if (error instanceof QuotaExceeded) return overQuota;
  if (error instanceof StoreBusy) return serverBusy;
  if (error instanceof AccountChanged) return serverBusy;
  // A stop waits 10 s for running requests; this one took longer.
  if (error instanceof StoreClosed) return serverBusy;
  if (error instanceof StoreUnavailable) {
    log.error({ err: error, requestId }, "storage unavailable; answered 503");
    return serverBusy;
  }
  const fields = { err: error, requestId, operation: operation?.name };
  log.error(fields, "unhandled exception in request; answered 500");
  return fail("InternalError");
}

type ReplyOutcome = Extract<Outcome, { kind: "reply" }>;
type ContentReply = Extract<ReplyBody, { content: ContentRef }>;

/** Adds the checksum of a range (at most 4 MiB) if the reply asks for one. Reads remote content up
 *  to its first byte before the headers are sent: later, no fault could be returned. */
function addRangeChecksum(outcome: ReplyOutcome): Awaitable<Outcome> {
  const { body, reader } = outcome;
  if (body === undefined || !("content" in body)) return outcome;
  if (body.checksum !== undefined) return withChecksum(outcome, body);
  const reached = reader?.reach?.(body.from, body.length);
  return reached === undefined ? outcome : afterReach(outcome, reached);
}

async function afterReach(outcome: ReplyOutcome, reached: Promise<void>): Promise<Outcome> {
  try {
    await reached;
  } catch (error) {
    outcome.reader?.close();
    throw error;
  }
  return outcome;
}

async function withChecksum(outcome: ReplyOutcome, body: ContentReply): Promise<Outcome> {
  const bytes = await readAll(outcome, body).finally(() => outcome.reader?.close());
  const value = body.checksum === "md5" ? md5Of(bytes) : crc64BytesOf(bytes);
  const name = body.checksum === "md5" ? "Content-MD5" : "x-ms-content-crc64";
  const stored = outcome.headers.find((group) => group["Content-Type"] !== undefined);
  const type = stored?.["Content-Type"] ?? "application/octet-stream";
  const headers = [...outcome.headers, { [name]: encodeBase64(value) }];
  return { ...outcome, headers, body: { type, bytes }, reader: undefined };
}

async function readAll(
  { reader }: ReplyOutcome,
  { content, from, length }: ContentReply,
): Promise<Uint8Array> {
  if (content.kind === "inline") return content.bytes.subarray(from, from + length);
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of reader?.read(from, length) ?? []) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const noObserver: Observer = { watch: undefined };

/** Passes a completed request to the request feed, audit log and debug log, if they are in use. */
function reportRequest(
  http: HttpService,
  completed: CompletedRequest,
  response: WireResponse,
  startedAt: Ticks,
): void {
  const { watch, audit } = http.observer ?? noObserver;
  if (watch !== undefined || audit !== undefined) {
    // Lists the fields, because a spread took 2 µs of the 30 µs of a small request.
    const { context, call, result, parts } = completed;
    const observed = { context, call, result, parts, http, reply: response };
    watch?.(observed);
    audit?.(observed);
  }
  if (http.log.verbose === true) logRequest(http, completed, response, startedAt);
}

function logRequest(
  http: HttpService,
  { context, result }: CompletedRequest,
  { status, headers }: WireResponse,
  startedAt: Ticks,
): void {
  const { request, requestId, operation } = context;
  const fault = faultOfResult(result);
  const fields = {
    requestId,
    operation: operation?.name ?? "none",
    seconds: Number(http.clock.monotonic() - startedAt) / Number(ticksPerSecond),
    service: http.service.name,
    method: request.method,
    // Leaves out signatures: they are secrets that must not be in a log.
    url: withoutSecrets(request.target),
    status,
    code: fault?.code ?? headers["x-ms-error-code"],
    ...(fault && diagnose(http, request, fault)),
    remoteAddress: request.remoteAddress,
  };
  http.log.debug(fields, "request");
}

/** The fault of a request that was rejected before the transaction or inside it; undefined
 *  otherwise. */
function faultOfResult(result: Result<Outcome>): Fault | undefined {
  if (!result.ok) return result.fault;
  return result.value.kind === "fault" ? result.value.fault : undefined;
}
