import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import { withSubject, invalidHeader } from "../protocol/faults.ts";
import type { BodySpec, ContentBody, Operation } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { parseXml, parseXmlInSteps } from "../encoding/xml.ts";
import { BodyTooLarge, type ContentStore } from "../content/content.ts";
import { BodyLengthMismatch } from "../content/receive.ts";
import { checksumsOf, compare, needsMd5, readChecksums } from "./body-checksums.ts";
import type { Checksums } from "./body-checksums.ts";
import { serverBusy } from "./server-busy.ts";
import type { WireRequest } from "./wire.ts";
import { ByteLimiter } from "./byte-limiter.ts";

/** A received request body: parsed, or stored as content. */
export interface Body {
  /** Result of the operation's body parser; undefined if it has none. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
}

type DocumentBody = Extract<BodySpec<unknown>, { kind: "xml" | "bytes" }>;

const passed = ok(undefined);
const noBody = ok<Body>({ parsed: undefined, received: undefined });

/** Receives the body that the operation declares, and checks its length and checksums. */
export function receiveBody(
  request: WireRequest,
  operation: Operation,
  version: string,
  content: ContentStore,
): Awaitable<Result<Body>> {
  const spec = operation.body;
  if (spec.kind === "transaction")
    throw new Error("the body of a transaction is received by runTransaction");
  if (spec.kind === "none" || spec.kind === "source") return noBody;
  const expected = readChecksums(request, spec);
  if (!expected.ok) return expected;
  return spec.kind === "content"
    ? receiveContent(request, spec, version, content, expected.value)
    : receiveDocument(request, spec, operation, version, expected.value);
}

/** Receives a body that is parsed as a whole. */
function receiveDocument(
  request: WireRequest,
  spec: DocumentBody,
  operation: Operation,
  version: string,
  expected: Checksums,
): Awaitable<Result<Body>> {
  return mapAwaitable(collect(request, spec.bytesMax), (bytes) => {
    if (!bytes.ok) return bytes;
    const { length } = bytes.value;
    const parse = () => parseDocument(request, spec, operation, version, expected, bytes.value);
    if (length <= wholeBytesMax || request.memory === undefined) return parse();
    if (documents.isFullFor(length)) return serverBusy;
    return request.memory.enter(documents, length).then(parse);
  });
}

function parseDocument(
  request: WireRequest,
  spec: DocumentBody,
  operation: Operation,
  version: string,
  expected: Checksums,
  bytes: Uint8Array,
): Awaitable<Result<Body>> {
  const { md5, crc64 } = expected;
  // Most operations with a parsed body return no checksum. Then only a checksum that the client
  // sent is computed.
  const isReturned = operation.success.headers.includes("x-ms-content-crc64");
  const isUnchecked = !isReturned && md5 === undefined && crc64 === undefined;
  if (isUnchecked) return parseSmall(spec, bytes, undefined, request);
  const received = checksumsOf(bytes, expected, version);
  const intact = compare(expected, received);
  return intact.ok ? parseSmall(spec, bytes, received, request) : intact;
}

/** Rejects a body because of its Content-Length, before it is received. */
export function checkAnnouncedLength(
  request: WireRequest,
  operation: Operation,
  version: string,
): Result<void> {
  const text = request.headers["content-length"];
  if (text === undefined) {
    const chunked = request.headers["transfer-encoding"] !== undefined;
    const awaited = operation.body.kind !== "none" && operation.body.kind !== "source";
    const needsLength = awaited && !chunked && request.method !== "POST";
    return needsLength ? fail("MissingContentLengthHeader") : passed;
  }
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < 0) return invalidHeader("Content-Length", text);
  const spec = operation.body;
  if (spec.kind === "none" || spec.kind === "source") return passed;
  const limit = spec.kind === "content" ? spec.lengthMax(version) : spec.bytesMax;
  return length > limit ? tooLarge(limit) : passed;
}

const emptyBody = invalidHeader("Content-Length", "0");

/** Rejects an empty body. Runs after the parameters are parsed: recorded, a Put Page without range
 *  and body gets the fault of the missing range. An empty body without Content-Length is rejected
 *  after it was received. */
export function checkEmptyBody(request: WireRequest, { body }: Operation): Result<void> {
  const isEmpty = request.headers["content-length"] === "0";
  const isRefused = isEmpty && body.kind === "content" && body.nonEmpty;
  return isRefused ? emptyBody : passed;
}

function receiveContent(
  request: WireRequest,
  spec: ContentBody,
  version: string,
  content: ContentStore,
  expected: Checksums,
): Awaitable<Result<Body>> {
  const announced = request.headers["content-length"];
  const lengthMax = spec.lengthMax(version);
  const heldBytes = Math.min(Number(announced ?? streamedBytesMax), streamedBytesMax);
  if (!mayHold(request, heldBytes)) return serverBusy;
  const receiving = content.receive(request.body, {
    length: announced === undefined ? undefined : Number(announced),
    lengthMax,
    inlineBytesMax: spec.inlineBytesMax,
    md5: spec.md5Always || needsMd5(expected, version),
    crc64: true,
  });
  return receiving.then(
    (received) => checkContent(content, spec, received, expected),
    (error: unknown) => refuseContent(error, lengthMax),
  );
}

function checkContent(
  content: ContentStore,
  spec: ContentBody,
  received: ReceivedBody,
  expected: Checksums,
): Result<Body> {
  const isRefused = spec.nonEmpty && received.length === 0;
  const intact = isRefused ? emptyBody : compare(expected, received);
  if (intact.ok) return ok({ parsed: undefined, received });
  content.discard(received);
  return intact;
}

function refuseContent(error: unknown, lengthMax: number): Result<never> {
  if (error instanceof BodyTooLarge) return tooLarge(lengthMax);
  if (error instanceof BodyLengthMismatch) return fail("InvalidInput", { message: error.message });
  throw error;
}

/** For bodies up to this length, memory is allocated before they arrive. */
const wholeBytesMax = 64 * 1024;

/** Total length of larger documents that are parsed at the same time. A parsed document takes
 *  several times its length. */
const documentBytesMax = 8 * 1024 * 1024;
const documents = new ByteLimiter(documentBytesMax);

/** Whether the request may keep this many more bytes in memory until it ends. If so, they are
 *  counted. */
export function mayHold({ memory }: WireRequest, bytes: number): boolean {
  return memory === undefined || memory.hold(bytes);
}

/** Memory that a chunk takes beside its bytes, of which it may have only one. */
const chunkOverheadBytes = 128;

/** Most bytes of a streamed body that are in memory at a time (`content/body-sink.ts`). */
export const streamedBytesMax = 512 * 1024;

/** Receives a small body as a whole. */
export function collect(request: WireRequest, bytesMax: number): Awaitable<Result<Uint8Array>> {
  const { whole } = request;
  if (whole !== undefined) return whole.length > bytesMax ? tooLarge(bytesMax) : ok(whole);
  const length = Number(request.headers["content-length"]);
  if (length <= wholeBytesMax && request.body.whole !== undefined) {
    if (length > bytesMax) return tooLarge(bytesMax);
    return mayHold(request, length) ? request.body.whole(length).then(ok) : serverBusy;
  }
  return collectChunks(request, bytesMax);
}

async function collectChunks(request: WireRequest, bytesMax: number): Promise<Result<Uint8Array>> {
  let bytes: Uint8Array = noBytes;
  let taken = 0;
  for await (const chunk of request.body) {
    const end = taken + chunk.length;
    if (end > bytesMax) return tooLarge(bytesMax);
    if (!mayHold(request, chunk.length + chunkOverheadBytes)) return serverBusy;
    if (taken === 0) bytes = chunk;
    else bytes = appended(bytes, taken, chunk);
    taken = end;
  }
  return ok(bytes.length === taken ? bytes : bytes.subarray(0, taken));
}

const noBytes = new Uint8Array(0);
/** Larger blocks than this are returned to the operating system when they are freed. The allocator
 *  keeps the 64 KiB of each chunk: after 300 bodies of 4 MB the process kept 390 MB. */
const blockBytesMin = 256 * 1024;

/** Appends a chunk to the first `taken` bytes, in a new array if there is no room. */
function appended(bytes: Uint8Array, taken: number, chunk: Uint8Array): Uint8Array {
  const end = taken + chunk.length;
  let block = bytes;
  if (end > bytes.length || bytes.length < blockBytesMin) {
    block = new Uint8Array(Math.max(blockBytesMin, 2 * end));
    block.set(bytes.subarray(0, taken));
  }
  block.set(chunk, taken);
  return block;
}

function parseSmall(
  spec: DocumentBody,
  bytes: Uint8Array,
  received: ReceivedBody | undefined,
  request: WireRequest,
): Awaitable<Result<Body>> {
  const parsed = spec.kind === "xml" ? parseXmlBody(spec, bytes) : parseBytes(spec, bytes, request);
  return mapAwaitable(parsed, (done) =>
    done.ok ? ok({ parsed: done.value, received }) : withSubject(done, "request body"),
  );
}

function parseXmlBody(
  spec: Extract<BodySpec<unknown>, { kind: "xml" }>,
  bytes: Uint8Array,
): Awaitable<Result<unknown>> {
  if (bytes.length === 0) return spec.parse(undefined);
  const document = bytes.length > wholeBytesMax ? parseXmlInSteps(bytes) : parseXml(bytes);
  return mapAwaitable(document, (read) => (read.ok ? spec.parse(read.value) : read));
}

function parseBytes(
  spec: Extract<BodySpec<unknown>, { kind: "bytes" }>,
  bytes: Uint8Array,
  request: WireRequest,
): Result<unknown> {
  return spec.parse(bytes, request.headers["content-type"] ?? "");
}

export function tooLarge(limit: number): Result<never> {
  return fail("RequestBodyTooLarge", { elements: { MaxLimit: String(limit) } });
}
