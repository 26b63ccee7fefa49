import type { Address, Operation } from "../operation/operation.ts";
import { ok, type Result } from "../protocol/result.ts";
import type { Call } from "../operation/execute.ts";
import { bodyWithin } from "./embedded-http.ts";
import type { RequestTarget } from "./http-service.ts";
import { holdsAt, type Part } from "./multipart.ts";
import { structuredHeader } from "./structured-body.ts";
import type { WireRequest } from "./wire.ts";

/** A part that was made ready, as far as its head goes: everything but its body. */
export interface Prepared<P> {
  readonly part: P;
  readonly target: RequestTarget;
  readonly call: Call;
  /** The bytes up to where the body starts. */
  readonly head: Buffer;
  readonly contentType: string;
  readonly contentLength: string | undefined;
}

/** Larger bodies are checked once more before they are taken in. */
const bodyBytesMax = 64 * 1024;
/** Whoever writes more kinds of parts than this into a body has each of them read in full. */
const templatesMax = 8;
const headEnd = Buffer.from("\r\n\r\n", "latin1");

/**
 * The parts of a transaction are often the same but for their bodies: a hundred inserts into one
 * table. Address, operation, permission and parameters follow from the head alone, so that a head
 * that came before, byte for byte, leaves only the body to be read.
 */
export class PartCache<P> {
  readonly #prepared: Prepared<P>[] = [];

  find({ bytes, from, to }: Part): Found<P> | undefined {
    for (const prepared of this.#prepared) {
      const { head, contentLength } = prepared;
      if (!holdsAt(bytes, head, from, to)) continue;
      const rest = bodyWithin(bytes.subarray(from + head.length, to), contentLength);
      if (rest === undefined || rest.length > bodyBytesMax) return undefined;
      return { part: prepared.part, call: callWith(prepared, rest) };
    }
    return undefined;
  }

  /** Only the heads that say nothing about the very bytes of the body are worth keeping. */
  remember(part: Part, request: WireRequest, prepared: Omit<Prepared<P>, Said>): void {
    if (this.#prepared.length >= templatesMax) return;
    const { body } = part;
    const end = body.indexOf(headEnd);
    if (end < 0 || request.whole === undefined) return;
    const head = body.subarray(0, end + headEnd.length);
    const bodyFollows = request.whole.byteOffset === body.byteOffset + head.length;
    if (!bodyFollows || !isIndifferent(request, prepared.call.operation)) return;
    const contentType = request.headers["content-type"] ?? "";
    const contentLength = lengthSaid(request);
    this.#prepared.push({ ...prepared, head, contentType, contentLength });
  }
}

type Said = "head" | "contentType" | "contentLength";

export interface Found<P> {
  readonly part: P;
  readonly call: Result<Call>;
}

function isIndifferent({ headers }: WireRequest, { body, names }: Operation): boolean {
  if (body.kind !== "bytes" || names !== undefined) return false;
  return (
    headers["content-md5"] === undefined &&
    headers["x-ms-content-crc64"] === undefined &&
    headers[structuredHeader] === undefined &&
    headers["expect"] === undefined
  );
}

/** What the client wrote; the request itself always has a length. */
function lengthSaid({ rawHeaders }: WireRequest): string | undefined {
  const at = rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === "content-length",
  );
  return at < 0 ? undefined : rawHeaders[at + 1];
}

function callWith<P>(prepared: Prepared<P>, bytes: Uint8Array): Result<Call> {
  const { call, target, contentType } = prepared;
  const { operation } = call;
  if (operation.body.kind !== "bytes") throw new Error("a template takes bytes");
  const parsed = operation.body.parse(bytes, contentType);
  if (!parsed.ok) return parsed;
  const input = { ...call.input, body: parsed.value };
  const address = operation.locate?.(target.address, input) ?? target.address;
  return ok(callAt(call, address, input));
}

/** Spelled out, because spreading as many fields costs more than all of this. */
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
    authorise: call.authorise,
    onLoaded: call.onLoaded,
  };
}
