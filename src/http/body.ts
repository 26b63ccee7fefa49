import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import { withSubject, invalidHeader } from "../protocol/faults.ts";
import type { BodySpec, ContentBody, Operation } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { crc64Since } from "../protocol/versions.ts";
import { parseXml, parseXmlInSteps } from "../encoding/xml.ts";
import { decodeBase64 } from "../base/base64.ts";
import { md5Of } from "../content/checksums.ts";
import { crc64Bytes, crc64Of } from "../content/crc64.ts";
import { BodyTooLarge, type ContentStore } from "../content/content.ts";
import { BodyLengthMismatch } from "../content/receive.ts";
import { serverBusy } from "./server-busy.ts";
import type { WireRequest } from "./wire.ts";
import { ByteLimiter } from "./byte-limiter.ts";

/** A received request body: parsed, or stored as content. */
export interface Body {
  /** Result of the operation's body parser; undefined if it has none. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
}

/** The checksums that a request sends; undefined if absent. */
export interface Checksums {
  readonly md5: Uint8Array | undefined;
  readonly crc64: Uint8Array | undefined;
}

type DocumentBody = Extract<BodySpec<unknown>, { kind: "xml" | "bytes" }>;

const md5Bytes = 16;
const crc64Length = 8;
const passed = ok(undefined);
const noChecksums = ok<Checksums>({ md5: undefined, crc64: undefined });
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
async function receiveDocument(
  request: WireRequest,
  spec: DocumentBody,
  operation: Operation,
  version: string,
  expected: Checksums,
): Promise<Result<Body>> {
  const bytes = await collect(request, spec.bytesMax);
  if (!bytes.ok) return bytes;
  if (bytes.value.length > wholeBytesMax && request.memory !== undefined) {
    if (documents.isFullFor(bytes.value.length)) return serverBusy;
    await request.memory.enter(documents, bytes.value.length);
  }
  const { md5, crc64 } = expected;
  // Most operations with a parsed body return no checksum. Then only a checksum that the client
  // sent is computed.
  const isReturned = operation.success.headers.includes("x-ms-content-crc64");
  const isUnchecked = !isReturned && md5 === undefined && crc64 === undefined;
  if (isUnchecked) return parseSmall(spec, bytes.value, undefined, request);
  const received = checksumsOf(bytes.value, expected, version);
  const intact = compare(expected, received);
  return intact.ok ? parseSmall(spec, bytes.value, received, request) : intact;
}

/** Whether the MD5 of a body is computed: a response contains it if the client sent one, or if the
 *  version has no CRC64. */
export function needsMd5({ md5 }: Checksums, version: string): boolean {
  return md5 !== undefined || version < crc64Since;
}

function checksumsOf(bytes: Uint8Array, expected: Checksums, version: string): ReceivedBody {
  const crc64 = crc64Bytes(crc64Of(bytes));
  const base = { length: bytes.length, pieces: [], crc64 };
  return needsMd5(expected, version) ? { ...base, md5: md5Of(bytes) } : base;
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

async function receiveContent(
  request: WireRequest,
  spec: ContentBody,
  version: string,
  content: ContentStore,
  expected: Checksums,
): Promise<Result<Body>> {
  const announced = request.headers["content-length"];
  const lengthMax = spec.lengthMax(version);
  const heldBytes = Math.min(Number(announced ?? streamedBytesMax), streamedBytesMax);
  if (!mayHold(request, heldBytes)) return serverBusy;
  let received: ReceivedBody;
  try {
    received = await content.receive(request.body, {
      length: announced === undefined ? undefined : Number(announced),
      lengthMax,
      inlineBytesMax: spec.inlineBytesMax,
      md5: spec.md5Always || needsMd5(expected, version),
      crc64: true,
    });
  } catch (error) {
    if (error instanceof BodyTooLarge) return tooLarge(lengthMax);
    if (error instanceof BodyLengthMismatch)
      return fail("InvalidInput", { message: error.message });
    throw error;
  }
  const isRefused = spec.nonEmpty && received.length === 0;
  const intact = isRefused ? emptyBody : compare(expected, received);
  if (intact.ok) return ok({ parsed: undefined, received });
  content.discard(received);
  return intact;
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
export async function collect(request: WireRequest, bytesMax: number): Promise<Result<Uint8Array>> {
  const { whole } = request;
  if (whole !== undefined) return whole.length > bytesMax ? tooLarge(bytesMax) : ok(whole);
  const length = Number(request.headers["content-length"]);
  if (length <= wholeBytesMax && request.body.whole !== undefined) {
    if (length > bytesMax) return tooLarge(bytesMax);
    return mayHold(request, length) ? ok(await request.body.whole(length)) : serverBusy;
  }
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

function readChecksums({ headers }: WireRequest, spec: BodySpec<unknown>): Result<Checksums> {
  const sent = parseChecksums(headers["content-md5"], headers["x-ms-content-crc64"]);
  const own = spec.kind === "content" && spec.md5Header ? headers[spec.md5Header] : undefined;
  if (!own || !sent.ok) return sent;
  // This header sets a property of the blob, so it may be combined with a CRC64 of the body.
  const named = parseChecksums(own, undefined);
  return named.ok ? ok({ ...sent.value, md5: named.value.md5 }) : named;
}

export function parseChecksums(
  md5Text: string | undefined,
  crc64Text: string | undefined,
): Result<Checksums> {
  if (md5Text !== undefined && crc64Text !== undefined) return fail("BothCrc64AndMd5HeaderPresent");
  const md5 = md5Text === undefined ? undefined : decodeBase64(md5Text);
  if (md5Text !== undefined && md5?.length !== md5Bytes) return fail("InvalidMd5");
  const crc64 = crc64Text === undefined ? undefined : decodeBase64(crc64Text);
  if (crc64Text !== undefined && crc64?.length !== crc64Length) {
    return invalidHeader("x-ms-content-crc64", crc64Text);
  }
  return md5 === undefined && crc64 === undefined ? noChecksums : ok({ md5, crc64 });
}

export function compare(expected: Checksums, actual: ReceivedBody): Result<void> {
  if (expected.md5 !== undefined && !same(expected.md5, actual.md5)) {
    return mismatch("Md5Mismatch", "Md5", expected.md5, actual.md5);
  }
  if (expected.crc64 !== undefined && !same(expected.crc64, actual.crc64)) {
    return mismatch("Crc64Mismatch", "Crc", expected.crc64, actual.crc64);
  }
  return passed;
}

function same(left: Uint8Array, right: Uint8Array | undefined): boolean {
  return right !== undefined && Buffer.compare(left, right) === 0;
}

function mismatch(
  code: "Md5Mismatch" | "Crc64Mismatch",
  kind: "Md5" | "Crc",
  given: Uint8Array,
  computed: Uint8Array | undefined,
): Result<never> {
  const base64 = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("base64");
  const elements = {
    [`UserSpecified${kind}`]: base64(given),
    [`ServerCalculated${kind}`]: base64(computed),
  };
  return fail(code, { elements });
}

export function tooLarge(limit: number): Result<never> {
  return fail("RequestBodyTooLarge", { elements: { MaxLimit: String(limit) } });
}
