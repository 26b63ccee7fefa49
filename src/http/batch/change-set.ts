import type {
  DialectWithTransactions,
  IndexedFault,
  PartResponse,
} from "../../operation/dialect.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import type { TextBytes } from "../../encoding/text-bytes.ts";
import {
  executeAll,
  TransactionRejected,
  type Call,
  type Outcome,
} from "../../operation/execute.ts";
import { diagnose } from "../diagnosis/diagnose.ts";
import { withoutSecrets } from "../diagnosis/secrets.ts";
import { checkPermission } from "../auth/authorise-call.ts";
import type { HttpService } from "../http-service.ts";
import {
  bodyWithin,
  parseEmbeddedRequest,
  renderEmbeddedReply,
  partRequestOf,
} from "./embedded-http.ts";
import { headerLines, holdsAt, writeMultipart, type Part, type RenderedPart } from "./multipart.ts";
import { prepareCall, selectOperation } from "../request/prepare.ts";
import { envelopeOf, renderFault, renderOutcome } from "../render.ts";
import type {
  RequestContext,
  SelectedRequest,
  TransactionParts,
} from "../request/request-context.ts";
import { identifyTarget, locateRequest } from "../request/target.ts";
import type { WireRequest, WireResponse } from "../wire.ts";
import type { Address, Operation } from "../../operation/operation.ts";
import { structuredHeader } from "../request/body.ts";
import { STATUS_CODES } from "node:http";
import type { HeaderGroup } from "../../operation/reply.ts";
import type { Ticks } from "../../base/ticks.ts";

/** The writes of one table transaction (a change set in OData): each part is prepared like a
 *  request of its own, then all are executed in one transaction. `transaction.ts` calls it. A
 *  transaction of 100 parts is a frequent request, so equal parts are parsed once and equal lines
 *  of responses written once. */

/** The responses of the parts of a transaction, and what the request feed gets of the parts. */
interface ChangeSetResult {
  readonly write: WriteParts;
  readonly parts?: TransactionParts | undefined;
}

/** A part that is ready to be executed, or the fault that rejected it before. */
interface PreparedPart {
  /** What the pipeline knows of the part: less if an early step rejected it. */
  readonly context: RequestContext;
  readonly call: Result<Call>;
}

/** Bytes of a part per unit of event-loop time (`base/loop-share.ts`). Smaller parts are not
 *  counted: 100 of them take little time, and a transaction that waits for the next iteration would
 *  miss the commit of this one. */
const bytesPerUnit = 8192;

/** Writes a multipart body with this boundary at once, without waiting in between: all requests
 *  share the buffer `out`. */
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
  // Kept only while the request feed needs them. A response may be sent late; if it referred to the
  // parts, they would survive several collections of the young generation.
  const observed = (outcomes: TransactionParts["outcomes"]): TransactionParts | undefined =>
    http.observer?.watch === undefined && http.tracer === undefined
      ? undefined
      : { contexts, calls, outcomes };
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
    const wait =
      bytes < bytesPerUnit ? undefined : http.runtime.content.loop.spend(bytes / bytesPerUnit);
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

/** The rejection of a part that failed before any part was executed. It has the form that
 *  `executeAll` returns for a part that fails in the transaction, for one way of reporting. */
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
  const before = `--${boundary}\r\n${headerLines(embeddedHeaders)}\r\n`;
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
  const received = { request: partRequestOf(embedded.value, batch.request), requestId };
  const located = locateRequest(http, received);
  if (!located.ok) return { context: received, call: located };
  const addressed = identifyTarget(http, located.value, { isPart: true });
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

const embeddedHeaders = {
  "Content-Type": "application/http",
  "Content-Transfer-Encoding": "binary",
};

/** Renders the response of one part with the headers that the service's dialect chooses. */
export function partOf(
  http: HttpService,
  reply: WireResponse,
  { method }: WireRequest,
): RenderedPart {
  const { status, headers, body } = reply;
  const own: Record<string, string> = {};
  const partResponse = { method, status, header: (name: string) => headers[name] };
  dialectOf(http).transaction.partHeaders(partResponse, (name, value) => {
    own[name] = value;
  });
  return renderEmbeddedReply({ status, headers: own, body }, embeddedHeaders);
}

function dialectOf({ service: { name, dialect } }: HttpService): DialectWithTransactions {
  if (dialect?.transaction === undefined) throw new Error(`${name} has no transactions`);
  return { ...dialect, transaction: dialect.transaction };
}

/** A prepared call, and the head of the part that it was prepared from. */
interface Template {
  readonly context: SelectedRequest;
  readonly call: Call;
  /** The bytes of a part before its body. */
  readonly head: Buffer;
  readonly contentType: string;
  readonly contentLength: string | undefined;
}

/** Parts with larger bodies are not cached: before it receives such a body, `prepareCall` checks
 *  permission and preconditions for this part. */
const bodyBytesMax = 64 * 1024;
/** Most templates. The parts of a transaction seldom have more than a few different heads; further
 *  kinds are parsed in full. */
const templatesMax = 8;
const headEnd = Buffer.from("\r\n\r\n", "latin1");

/** Prepared calls by the head of their part. The parts of a transaction often differ only in their
 *  bodies: 100 inserts into one table. Address, operation, permission and parameters depend on the
 *  head alone, so that a part with a known head, byte for byte, needs only its body parsed. A
 *  transaction of 100 takes a third of the CPU time. */
export class PartCache {
  readonly #templates: Template[] = [];

  find({ bytes, from, to }: Part): CachedPart | undefined {
    for (const template of this.#templates) {
      const { head, contentLength } = template;
      if (!holdsAt(bytes, head, from, to)) continue;
      const rest = bodyWithin(bytes.subarray(from + head.length, to), contentLength);
      if (rest === undefined || rest.length > bodyBytesMax) return undefined;
      return { context: template.context, call: callWith(template, rest) };
    }
    return undefined;
  }

  /** Keeps a call as a template, unless it depends on the bytes of the body. */
  remember(part: Part, context: SelectedRequest, call: Call): void {
    if (this.#templates.length >= templatesMax) return;
    const { request } = context;
    const { body } = part;
    const end = body.indexOf(headEnd);
    if (end < 0 || request.whole === undefined) return;
    const head = body.subarray(0, end + headEnd.length);
    const bodyFollows = request.whole.byteOffset === body.byteOffset + head.length;
    if (!bodyFollows || !isIndependentOfBody(request, call.operation)) return;
    const contentType = request.headers["content-type"] ?? "";
    const contentLength = lengthHeader(request);
    this.#templates.push({ context, call, head, contentType, contentLength });
  }
}

interface CachedPart {
  readonly context: SelectedRequest;
  readonly call: Result<Call>;
}

function isIndependentOfBody(
  { headers }: WireRequest,
  { body, namedResources }: Operation,
): boolean {
  if (body.kind !== "bytes" || namedResources !== undefined) return false;
  return (
    headers["content-md5"] === undefined &&
    headers["x-ms-content-crc64"] === undefined &&
    headers[structuredHeader] === undefined &&
    headers["expect"] === undefined
  );
}

/** The Content-Length that the client has sent with the part; the parsed headers always contain
 *  one, which `partRequestOf` adds. */
function lengthHeader({ rawHeaders }: WireRequest): string | undefined {
  const at = rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === "content-length",
  );
  return at < 0 ? undefined : rawHeaders[at + 1];
}

function callWith({ context, call, contentType }: Template, bytes: Uint8Array): Result<Call> {
  const { operation, address: target } = context;
  if (operation.body.kind !== "bytes")
    throw new Error(`${operation.name} has no template: its body is not of kind "bytes"`);
  const parsed = operation.body.parse(bytes, contentType);
  if (!parsed.ok) return parsed;
  const input = { ...call.input, body: parsed.value };
  const address = operation.completeAddress?.(target, input) ?? target;
  return ok(callAt(call, address, input));
}

/** Copies a call with another address and input. Lists the fields, because spreading them would
 *  cost more than the rest of this file. */
function callAt(call: Call, address: Address, input: object): Required<Call> {
  return {
    operation: call.operation,
    resource: call.resource,
    account: call.account,
    features: call.features,
    identityRevision: call.identityRevision,
    address,
    version: call.version,
    endpoint: call.endpoint,
    secondary: call.secondary,
    accountPlace: call.accountPlace,
    input,
    conditions: call.conditions,
    leaseId: call.leaseId,
    received: call.received,
    requestId: call.requestId,
    clientRequestId: call.clientRequestId,
    entities: call.entities,
    clientIdentity: call.clientIdentity,
    source: call.source,
    delegate: call.delegate,
    callerId: call.callerId,
    aclCaller: call.aclCaller,
    permits: call.permits,
    authorise: call.authorise,
  };
}

export type Reply = Extract<Outcome, { kind: "reply" }>;

const crlf = "\r\n";
const noHeaders: HeaderGroup = {};

/** Writes the responses of a transaction that have no body. Consecutive responses usually differ in
 *  one or two lines; the text before and after these lines is reused. */
export class PartResponseWriter implements PartResponse {
  method = "";
  status = 0;
  readonly #dialect: DialectWithTransactions;
  readonly #out: TextBytes;
  readonly #before: string;
  #groups: readonly HeaderGroup[] = [];
  #newETag: Ticks | undefined;
  #etagHeaders = noHeaders;
  /** The header lines of the current response, or of the preceding one. */
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  #count = 0;
  /** Number of lines that equal those of the preceding response: before the first line that differs
   *  (`lead`), and after the last one (`tail`). */
  #leadCount = 0;
  #lead = "";
  #tailFrom = 0;
  #tail = "";
  #firstOther = 0;
  #lastOther = 0;

  /** `before` is the text that precedes every response: delimiter and headers of its part. */
  constructor(dialect: DialectWithTransactions, out: TextBytes, before = "") {
    this.#dialect = dialect;
    this.#out = out;
    this.#before = before;
  }

  write(method: string, { status, headers, etag }: Reply): void {
    const countBefore = this.#count;
    const isAlike = method === this.method && status === this.status;
    this.method = method;
    this.status = status;
    this.#groups = headers;
    if (etag !== this.#newETag) {
      this.#newETag = etag;
      this.#etagHeaders = etag === undefined ? noHeaders : this.#dialect.etagHeaders(etag);
    }
    this.#count = 0;
    this.#firstOther = Infinity;
    this.#lastOther = -1;
    this.#dialect.transaction.partHeaders(this, this.#noteLine);
    if (isAlike && this.#count === countBefore) this.#writeOthers();
    else this.#writeAll();
  }

  /** The value of a header. The headers are in groups (objects), of which a later one overrides the
   *  earlier ones. */
  header(name: string): string | undefined {
    const groups = this.#groups;
    for (let index = groups.length - 1; index >= 0; index -= 1) {
      const value = groups[index]![name];
      if (value !== undefined) return value;
    }
    return this.#etagHeaders[name];
  }

  readonly #noteLine = (name: string, value: string): void => {
    const at = this.#count;
    this.#count = at + 1;
    if (this.#names[at] === name && this.#values[at] === value) return;
    this.#names[at] = name;
    this.#values[at] = value;
    this.#firstOther = Math.min(this.#firstOther, at);
    this.#lastOther = at;
  };

  #writeOthers(): void {
    const leadCount = Math.min(this.#firstOther, this.#count);
    if (this.#lead === "" || leadCount !== this.#leadCount) {
      this.#leadCount = leadCount;
      this.#lead = `${this.#before}${statusLine(this.status)}${this.#lines(0, leadCount)}`;
    }
    const tailFrom = Math.max(this.#lastOther + 1, leadCount);
    if (this.#tail === "" || tailFrom !== this.#tailFrom) {
      this.#tailFrom = tailFrom;
      this.#tail = `${this.#lines(tailFrom, this.#count)}${crlf}`;
    }
    this.#out.append(this.#lead + this.#lines(leadCount, tailFrom) + this.#tail);
  }

  /** Writes all lines, because the reused text belongs to another kind of response. */
  #writeAll(): void {
    this.#lead = "";
    this.#tail = "";
    const lines = this.#lines(0, this.#count);
    this.#out.append(`${this.#before}${statusLine(this.status)}${lines}${crlf}`);
  }

  #lines(from: number, to: number): string {
    let lines = "";
    for (let at = from; at < to; at += 1) lines += `${this.#names[at]}: ${this.#values[at]}${crlf}`;
    return lines;
  }
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}${crlf}`;
}
