import type { DialectWithTransactions, IndexedFault } from "../operation/dialect.ts";
import { spend } from "../base/loop-share.ts";
import { fail, type Failure, type Result } from "../protocol/result.ts";
import type { TextBytes } from "../encoding/text-bytes.ts";
import { executeAll } from "../operation/execute-all.ts";
import type { Call, Outcome } from "../operation/execute.ts";
import { TransactionRejected } from "../operation/transaction-rejected.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { withoutSecrets } from "./diagnosis/secrets.ts";
import { checkPermission } from "./authorise-call.ts";
import type { HttpService } from "./http-service.ts";
import { parseEmbeddedRequest, renderEmbeddedReply, wireRequestOf } from "./embedded-http.ts";
import { headerLines, writeMultipart, type Part, type RenderedPart } from "./multipart.ts";
import { PartResponseWriter } from "./part-response-writer.ts";
import { PartCache } from "./part-cache.ts";
import { selectOperation, prepareCall } from "./prepare.ts";
import { renderFault, renderOutcome } from "./render.ts";
import type { RequestContext, SelectedRequest, TransactionParts } from "./request-context.ts";
import { envelopeOf } from "./response.ts";
import { identifyTarget, locateRequest } from "./target.ts";
import type { WireResponse, WireRequest } from "./wire.ts";

/** The responses of the parts, and what the event feed reports of them. */
export interface ChangeSetResult {
  readonly write: WriteParts;
  readonly parts?: TransactionParts | undefined;
}

/** A part after `prepareCall`, or the fault that rejected it before. */
interface PreparedPart {
  /** The last context that the part reached. */
  readonly context: RequestContext;
  readonly call: Result<Call>;
}

/** Bytes of a part per unit of event-loop time (`base/loop-share.ts`). Smaller parts are not
 *  counted: 100 of them take little time, and a transaction that waits for the next iteration would
 *  miss the commit of this one. */
const bytesPerUnit = 8192;

/** Writes a multipart body synchronously. */
export type WriteParts = (out: TextBytes, boundary: string) => void;

/** Prepares every part as a request of its own, then executes all parts in one transaction. If one
 *  is rejected, the response contains only its fault. */
export async function runChangeSet(
  http: HttpService,
  batch: SelectedRequest,
  parts: readonly Part[],
): Promise<ChangeSetResult> {
  const { transaction } = dialectOf(http);
  const contexts: RequestContext[] = [];
  const calls: Call[] = [];
  // Kept only while the event feed needs them. A response may be sent late; if it referred to the
  // parts, they would survive several collections of the young generation.
  const observed = (outcomes: TransactionParts["outcomes"]): TransactionParts | undefined =>
    http.observer?.watch === undefined ? undefined : { contexts, calls, outcomes };
  const refuse = (failure: IndexedFault, rejection?: TransactionRejected): ChangeSetResult => {
    const context = contexts[failure.index] ?? batch;
    if (http.log.verbose === true) logRejection(http, context, failure);
    const fault = transaction.fault(failure, parts.length);
    const reply = renderFault(fault, envelopeOf(http, context));
    const write = writerOf([partOf(http, reply, context.request)]);
    return { write, parts: observed(rejection ?? rejectionOf(failure)) };
  };
  const templates = new PartCache();
  const count = Math.min(parts.length, transaction.operationsMax);
  for (let index = 0; index < count; index += 1) {
    const part = parts[index]!;
    const prepared = templates.find(part) ?? (await prepareNew(http, batch, part, templates));
    contexts.push(prepared.context);
    if (!prepared.call.ok) return refuse({ index, fault: prepared.call.fault });
    calls.push(prepared.call.value);
    const bytes = part.to - part.from;
    const wait = bytes < bytesPerUnit ? undefined : spend(bytes / bytesPerUnit);
    if (wait !== undefined) await wait;
  }
  const reader = calls.findIndex(({ operation }) => operation.effect === "reads");
  if (reader >= 0) return refuse({ index: reader, fault: { code: "InvalidInput" } });
  const unfit = transaction.check(calls, parts.length);
  if (unfit !== undefined) return refuse(unfit);
  const outcomes = await executeAll(http.runtime, calls);
  if (outcomes instanceof TransactionRejected) {
    const { index, outcome } = outcomes;
    return refuse({ index, fault: faultOf(outcome).fault }, outcomes);
  }
  const write: WriteParts = (out, boundary) =>
    writeReplies(http, { contexts, outcomes }, out, boundary);
  return { write, parts: observed(outcomes) };
}

/** The rejection of a part that was not executed. */
function rejectionOf({ index, fault }: IndexedFault): TransactionRejected {
  return new TransactionRejected(index, { kind: "fault", fault });
}

/** Logs the rejected part, because the response to the whole transaction has status 202. */
function logRejection(
  http: HttpService,
  { request, requestId }: RequestContext,
  { index, fault }: IndexedFault,
): void {
  const { method, target } = request;
  const fields = { requestId, index, method, url: withoutSecrets(target), code: fault.code };
  http.log.debug({ ...fields, ...diagnose(http, request, fault) }, "transaction rejected");
}

function writerOf(parts: readonly RenderedPart[]): WriteParts {
  return (out, boundary) => writeMultipart(out, boundary, parts);
}

interface ExecutedParts {
  readonly contexts: readonly RequestContext[];
  readonly outcomes: readonly Outcome[];
}

function writeReplies(
  http: HttpService,
  { contexts, outcomes }: ExecutedParts,
  out: TextBytes,
  boundary: string,
): void {
  const before = `--${boundary}\r\n${headerLines(around)}\r\n`;
  const replies = new PartResponseWriter(dialectOf(http), out, before);
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index]!;
    const context = contexts[index]!;
    const { request } = context;
    if (outcome.kind === "reply" && outcome.body === undefined) {
      replies.write(request.method, outcome);
    } else {
      const reply = renderOutcome(outcome, envelopeOf(http, context));
      const { body } = partOf(http, reply, request);
      out.append(before);
      if (typeof body === "string") out.append(body);
      else out.appendBytes(body, 0, body.length);
    }
    out.append("\r\n");
  }
  out.append(`--${boundary}--\r\n`);
}

/** Prepares a part, and keeps it as a template for later parts with the same head. */
async function prepareNew(
  http: HttpService,
  batch: SelectedRequest,
  part: Part,
  templates: PartCache,
): Promise<PreparedPart> {
  const prepared = await preparePart(http, batch, part);
  const { context, call } = prepared;
  if (call.ok) templates.remember(part, context as SelectedRequest, call.value);
  return prepared;
}

/** Runs the steps of a request from `locateRequest` to `prepareCall`, without `authenticate`,
 *  because a part has no credentials of its own. It must address the account of the transaction. */
export async function preparePart(
  http: HttpService,
  batch: SelectedRequest,
  part: Part,
): Promise<PreparedPart> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return { context: batch, call: embedded };
  const { requestId, principal, settings } = batch;
  const received = { request: wireRequestOf(embedded.value, batch.request), requestId };
  const located = locateRequest(http, received);
  if (!located.ok) return { context: received, call: located };
  const addressed = identifyTarget(http, located.value);
  if (!addressed.ok) return { context: located.value, call: addressed };
  const { value: context } = addressed;
  if (context.location.account !== batch.location.account) {
    return { context, call: fail("InvalidInput") };
  }
  const selected = selectOperation(http, { ...context, principal, settings });
  if (!selected.ok) return { context, call: selected };
  return { context: selected.value, call: await preparedCall(http, selected.value) };
}

async function preparedCall(http: HttpService, selected: SelectedRequest): Promise<Result<Call>> {
  const permitted = checkPermission(http, selected);
  if (!permitted.ok) return permitted;
  if (selected.operation.body.kind === "transaction") return fail("InvalidInput");
  const call = await prepareCall(http, selected);
  return "outcome" in call ? faultOf(call.outcome) : call;
}

function faultOf(outcome: Outcome): Failure {
  if (outcome.kind !== "fault")
    throw new Error(`part of a transaction ended with ${outcome.kind}, not with a fault`);
  return { ok: false, fault: outcome.fault };
}

const around = { "Content-Type": "application/http", "Content-Transfer-Encoding": "binary" };

export function partOf(
  http: HttpService,
  reply: WireResponse,
  { method }: WireRequest,
): RenderedPart {
  const { status, headers, body } = reply;
  const own: Record<string, string> = {};
  const answer = { method, status, header: (name: string) => headers[name] };
  dialectOf(http).transaction.partHeaders(answer, (name, value) => {
    own[name] = value;
  });
  return renderEmbeddedReply({ status, headers: own, body }, around);
}

function dialectOf({ service: { name, dialect } }: HttpService): DialectWithTransactions {
  if (dialect?.transaction === undefined) throw new Error(`${name} has no transactions`);
  return { ...dialect, transaction: dialect.transaction };
}
