import type { Address, Operation } from "../operation/operation.ts";
import { ok, type Result } from "../protocol/result.ts";
import type { Call } from "../operation/execute.ts";
import { bodyWithin } from "./embedded-http.ts";
import { holdsAt, type Part } from "./multipart.ts";
import type { SelectedRequest } from "./request-context.ts";
import { structuredHeader } from "./structured-body.ts";
import type { WireRequest } from "./wire.ts";

/** A prepared call, and the head of the part that it was prepared from. */
interface Template {
  readonly context: SelectedRequest;
  readonly call: Call;
  /** The bytes of the part up to the start of its body. */
  readonly head: Buffer;
  readonly contentType: string;
  readonly contentLength: string | undefined;
}

/** Parts with larger bodies are not cached: `prepareCall` runs a precheck for them. */
const bodyBytesMax = 64 * 1024;
/** Most templates; further kinds of parts are parsed in full. */
const templatesMax = 8;
const headEnd = Buffer.from("\r\n\r\n", "latin1");

/**
 * Prepared calls by the head of their part. The parts of a transaction often differ only in their
 * bodies: 100 inserts into one table. Address, operation, permission and parameters depend on the
 * head alone, so that a part with a known head, byte for byte, needs only its body parsed. A
 * transaction of 100 takes a third of the CPU time.
 */
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

export interface CachedPart {
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

/** The Content-Length of the part itself; the headers of the request always contain one. */
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

/** Lists the fields, because spreading them would cost more than the rest of this file. */
function callAt(call: Call, address: Address, input: object): Required<Call> {
  return {
    operation: call.operation,
    resource: call.resource,
    account: call.account,
    features: call.features,
    address,
    version: call.version,
    endpoint: call.endpoint,
    secondary: call.secondary,
    input,
    conditions: call.conditions,
    leaseId: call.leaseId,
    received: call.received,
    entities: call.entities,
    clientIdentity: call.clientIdentity,
    source: call.source,
    delegate: call.delegate,
    callerId: call.callerId,
    aclCaller: call.aclCaller,
    authorise: call.authorise,
  };
}
