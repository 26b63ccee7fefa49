import { serverBusy, type ByteLimiter } from "../limits/processing-limits.ts";
import type { LoopShare } from "../../base/loop-share.ts";
import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import {
  invalidHeader,
  missingHeader,
  unsupportedHeader,
  withSubject,
  invalidQuery,
} from "../../protocol/faults.ts";
import {
  type BodySpec,
  type ContentBody,
  type Operation,
  inputWithRole,
} from "../../operation/operation.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { parseXml, parseXmlInSteps } from "../../encoding/xml.ts";
import {
  BodyTooLarge,
  contentWith,
  type BodyEncryption,
  type ContentStore,
} from "../../content/content.ts";
import { BodyLengthMismatch } from "../../content/body/receive.ts";
import type { WireRequest } from "../wire.ts";
import { decodeBase64 } from "../../base/base64.ts";
import { md5Of, crc64BytesOf } from "../../content/body/checksums.ts";
import { crc64Since } from "../../protocol/versions.ts";
import {
  InvalidStructuredBody,
  isStructuredForm,
  readStructured,
} from "../../content/body/structured.ts";
import { createHash } from "node:crypto";
import type { Call } from "../../operation/execute.ts";
import { newId } from "../../operation/identifiers.ts";
import { Records } from "../../operation/records.ts";
import type { Runtime } from "../../operation/work.ts";
import { isScopeName, scopeHeader, type ClientKey } from "../../protocol/encryption.ts";
import type { Principal } from "../../protocol/principal.ts";

/** Receives request bodies: documents are collected and parsed, content is stored while it arrives.
 *  Checks lengths and checksums, and encrypts with the key of the request. `prepare.ts` calls it
 *  after the parameters are parsed. */

/** A request body once it is received: the parsed document, or the stored content. */
export interface Body {
  /** Result of the operation's body parser; undefined if it has none. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
}

type DocumentBody = Extract<BodySpec<unknown>, { kind: "xml" | "bytes" }>;

const passed = ok(undefined);
const noBody = ok<Body>({ parsed: undefined, received: undefined });

interface BodyParts {
  readonly content: ContentStore;
  /** Limits the bytes of documents that are parsed at the same time. */
  readonly documents: ByteLimiter;
}

/** Receives the body that the operation declares, and checks its length and checksums. */
export function receiveBody(
  request: WireRequest,
  operation: Operation,
  version: string,
  { content, documents }: BodyParts,
): Awaitable<Result<Body>> {
  const spec = operation.body;
  if (spec.kind === "transaction")
    throw new Error("the body of a transaction is received by runTransaction");
  if (spec.kind === "none" || spec.kind === "source" || lacksBody(request, spec)) return noBody;
  const expected = readChecksums(request, spec);
  if (!expected.ok) return expected;
  return spec.kind === "content"
    ? receiveContent(request, spec, version, content, expected.value)
    : receiveDocument({
        request,
        spec,
        loop: content.loop,
        documents,
        operation,
        version,
        expected: expected.value,
      });
}

/** A document that is to be received: XML or JSON, which is parsed as a whole. */
interface DocumentSource {
  readonly request: WireRequest;
  readonly spec: DocumentBody;
  readonly loop: LoopShare;
  readonly documents: ByteLimiter;
  readonly operation: Operation;
  readonly version: string;
  readonly expected: Checksums;
}

function receiveDocument(source: DocumentSource): Awaitable<Result<Body>> {
  const { request, spec, documents } = source;
  return mapAwaitable(collect(request, spec.bytesMax), (bytes) => {
    if (!bytes.ok) return bytes;
    const { length } = bytes.value;
    const parse = () => parseDocument(source, bytes.value);
    if (length <= wholeBytesMax || request.memory === undefined) return parse();
    if (documents.isFullFor(length)) return serverBusy;
    const admitted = request.memory.enter(documents, length);
    return admitted.then(() => source.loop.spend(length / bytesPerUnit)).then(parse);
  });
}

/** Bytes of a document per unit of event-loop time (`base/loop-share.ts`) for its parsing. */
const bytesPerUnit = 8192;

function parseDocument(source: DocumentSource, bytes: Uint8Array): Awaitable<Result<Body>> {
  const { operation, version, expected } = source;
  const { md5, crc64 } = expected;
  // Most operations with a parsed body return no checksum. Then only a checksum that the client
  // sent is computed.
  const isReturned = "returnsChecksum" in operation.body;
  const isUnchecked = !isReturned && md5 === undefined && crc64 === undefined;
  if (isUnchecked) return parseSmall(source, bytes, undefined);
  const received = checksumsOf(bytes, expected, version);
  const intact = compare(expected, received);
  if (!intact.ok) return intact;
  const isLong = bytes.length > wholeBytesMax;
  const wait = isLong ? source.loop.spend(bytes.length / bytesPerUnit) : undefined;
  const parse = () => parseSmall(source, bytes, received);
  return wait === undefined ? parse() : wait.then(parse);
}

/** Rejects a body by its Content-Length, before the body is received. */
export function checkAnnouncedLength(
  request: WireRequest,
  { body: spec }: Operation,
  version: string,
): Result<void> {
  const text = request.headers["content-length"];
  const takesBody = acceptsBody(spec, version);
  if (text === undefined) {
    const chunked = request.headers["transfer-encoding"] !== undefined;
    const needsLength = takesBody && !isOptional(spec) && !chunked && request.method !== "POST";
    return needsLength ? fail("MissingContentLengthHeader") : passed;
  }
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < 0) return invalidHeader("Content-Length", text);
  if (!takesBody) return length > 0 ? invalidHeader("Content-Length", text) : passed;
  const limit = spec.kind === "content" ? spec.lengthMax(version) : spec.bytesMax;
  return length > limit ? tooLarge(limit) : passed;
}

type ReceivedSpec = Exclude<BodySpec<unknown>, { kind: "none" | "source" }>;

/** Whether requests of this x-ms-version may have a body. */
export function acceptsBody(spec: BodySpec<unknown>, version: string): spec is ReceivedSpec {
  if (spec.kind === "none" || spec.kind === "source") return false;
  return spec.kind !== "content" || spec.since === undefined || version >= spec.since;
}

function isOptional(spec: BodySpec<unknown>): boolean {
  return spec.kind === "content" && spec.optional === true;
}

/** Whether a request omits an optional body. With a checksum it has an empty one. */
function lacksBody({ headers }: WireRequest, spec: BodySpec<unknown>): boolean {
  if (!isOptional(spec)) return false;
  const { "content-length": length = "0", "transfer-encoding": coding } = headers;
  const checksum = headers["content-md5"] ?? headers["x-ms-content-crc64"];
  return length === "0" && coding === undefined && checksum === undefined;
}

/** Rejects a body in chunks if the operation has none: its bytes would be discarded, although the
 *  client assumes that they are stored. */
export async function checkNoChunks(request: WireRequest): Promise<Result<void>> {
  request.proceed();
  const bytes = await collect(request, 0);
  if (bytes.ok) return passed;
  return invalidHeader("Transfer-Encoding", request.headers["transfer-encoding"] ?? "");
}

const emptyBody = invalidHeader("Content-Length", "0");

/** Rejects an empty body. Runs after the parameters are parsed, because Azure does so: a Put Page
 *  without range and body gets the fault of the missing range. An empty body without Content-Length
 *  is rejected after it was received. */
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

/** Bodies up to this length are received into memory that is allocated before they arrive; longer
 *  ones chunk by chunk, so that a client must send what it announces. */
const wholeBytesMax = 64 * 1024;

/** Counts bytes that the request keeps in memory until it ends. Returns false if they exceed the
 *  memory budget of the process: then the request gets 503. */
export function mayHold({ memory }: WireRequest, bytes: number): boolean {
  return memory === undefined || memory.hold(bytes);
}

/** Memory of a chunk beside its bytes, counted because a client may send chunks of one byte. */
const chunkOverheadBytes = 128;

/** Most bytes of a streamed body in memory at a time: the buffers of `content/body/receive.ts`. */
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
  const announced = Number(request.headers["content-length"] ?? 0);
  for await (const chunk of request.body) {
    const end = taken + chunk.length;
    if (end > bytesMax) return tooLarge(bytesMax);
    if (!mayHold(request, chunk.length + chunkOverheadBytes)) return serverBusy;
    if (taken === 0) bytes = chunk;
    else bytes = appended(bytes, taken, chunk, announced);
    taken = end;
  }
  return ok(bytes.length === taken ? bytes : bytes.subarray(0, taken));
}

const noBytes = new Uint8Array(0);
/** Larger blocks than this are returned to the operating system when they are freed. The allocator
 *  keeps the 64 KiB of each chunk: after 300 bodies of 4 MB the process kept 390 MB. */
const blockBytesMin = 256 * 1024;

/** Appends a chunk to the first `taken` bytes, in a new array if there is no room. The first array
 *  is small, so that a client must send something for the memory that it announces. The second one
 *  has the announced length: blocks of growing sizes would leave gaps in the allocator's memory, of
 *  which Node 26 kept 180 MB after 300 bodies. */
function appended(bytes: Uint8Array, taken: number, chunk: Uint8Array, announced: number) {
  const end = taken + chunk.length;
  let block = bytes;
  if (end > bytes.length || bytes.length < blockBytesMin) {
    const length = end > blockBytesMin ? Math.max(announced, 2 * end) : blockBytesMin;
    block = Buffer.allocUnsafeSlow(length);
    block.set(bytes.subarray(0, taken));
  }
  block.set(chunk, taken);
  return block;
}

function parseSmall(
  { request, spec, loop }: DocumentSource,
  bytes: Uint8Array,
  received: ReceivedBody | undefined,
): Awaitable<Result<Body>> {
  const parsed =
    spec.kind === "xml"
      ? parseXmlBody(spec, bytes, loop)
      : spec.parse(bytes, request.headers["content-type"] ?? "");
  return mapAwaitable(parsed, (done) =>
    done.ok ? ok({ parsed: done.value, received }) : withSubject(done, "request body"),
  );
}

function parseXmlBody(
  spec: Extract<BodySpec<unknown>, { kind: "xml" }>,
  bytes: Uint8Array,
  loop: LoopShare,
): Awaitable<Result<unknown>> {
  if (bytes.length === 0) return spec.parse(undefined, loop);
  const document = bytes.length > wholeBytesMax ? parseXmlInSteps(bytes, loop) : parseXml(bytes);
  return mapAwaitable(document, (read) => (read.ok ? spec.parse(read.value, loop) : read));
}

export function tooLarge(limit: number): Result<never> {
  return fail("RequestBodyTooLarge", { elements: { MaxLimit: String(limit) } });
}

/** The checksums that a request sends; undefined if absent. */
interface Checksums {
  readonly md5: Uint8Array | undefined;
  readonly crc64: Uint8Array | undefined;
}

const md5Bytes = 16;
const crc64Length = 8;
const noChecksums = ok<Checksums>({ md5: undefined, crc64: undefined });

/** Whether the MD5 of a body is computed: a response contains it if the client sent one, or if the
 *  version has no CRC64. */
export function needsMd5({ md5 }: Checksums, version: string): boolean {
  return md5 !== undefined || version < crc64Since;
}

/** Computes the checksums of a body that the response contains or the client has sent. */
function checksumsOf(bytes: Uint8Array, expected: Checksums, version: string): ReceivedBody {
  const crc64 = crc64BytesOf(bytes);
  const base = { length: bytes.length, pieces: [], crc64 };
  return needsMd5(expected, version) ? { ...base, md5: md5Of(bytes) } : base;
}

/** Reads the checksums that the headers contain. */
function readChecksums({ headers }: WireRequest, spec: BodySpec<unknown>): Result<Checksums> {
  const sent = parseChecksums(headers["content-md5"], headers["x-ms-content-crc64"]);
  const own = spec.kind === "content" && spec.md5Header ? headers[spec.md5Header] : undefined;
  if (!own || !sent.ok) return sent;
  // This header sets a property of the blob. It may therefore be combined with a CRC64 of the body.
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

export const structuredHeader = "x-ms-structured-body";
const lengthHeader = "x-ms-structured-content-length";

/** Replaces a body with `x-ms-structured-body` by its plain bytes, and verifies its checksums while
 *  it is read, whatever the method. Operations that read their body in another way reject the
 *  header. Reads have no body: the header asks for a structured response. */
export function unwrapStructured(
  request: WireRequest,
  { body }: Operation,
  version: string,
): Result<WireRequest> {
  const form = request.headers[structuredHeader];
  if (form === undefined || form === "" || !acceptsBody(body, version)) return ok(request);
  const isWhole = body.kind === "transaction" || request.whole !== undefined;
  if (isWhole) return unsupportedHeader(structuredHeader);
  if (!isStructuredForm(form)) return invalidHeader(structuredHeader, form);
  const length = request.headers[lengthHeader];
  if (length === undefined) return missingHeader(lengthHeader);
  if (!/^\d{1,16}$/.test(length)) return invalidHeader(lengthHeader, length);
  return ok({
    ...request,
    headers: { ...request.headers, "content-length": length },
    body: readStructured(request.body),
  });
}

/** The fault of a malformed structured body. Rethrows any other error. */
export function structuredFault(error: unknown): Failure {
  if (!(error instanceof InvalidStructuredBody)) throw error;
  return error.checksum ? fail("Crc64Mismatch") : fail("InvalidInput", { message: error.message });
}

/** Checks that a customer-provided key matches its hash, and that the encryption scope matches that
 *  of the SAS. */
export function checkEncryption(
  operation: Operation,
  input: object,
  principal: Principal,
): Result<object> {
  const field = operation.roles?.encryption;
  const encryption = inputWithRole(operation, input, "encryption");
  if (field === undefined || encryption === undefined) return ok(input);
  const { clientKey, scope } = encryption;
  if (clientKey !== undefined && !hasHash(clientKey)) {
    const stated = Buffer.from(clientKey.sha256).toString("base64");
    return invalidHeader("x-ms-encryption-key-sha256", stated);
  }
  const signed = "encryptionScope" in principal ? principal.encryptionScope : undefined;
  if (signed === undefined) return ok(input);
  if (!isScopeName(signed)) return invalidQuery("ses", signed);
  if (clientKey !== undefined) return fail("AuthorizationFailure");
  // Recorded from Azure: the header must not contradict the signature.
  if (scope !== undefined && scope !== signed) return invalidHeader(scopeHeader, scope);
  return ok({ ...input, [field]: { ...encryption, scope: signed } });
}

function hasHash({ key, sha256 }: ClientKey): boolean {
  return createHash("sha256").update(key).digest().equals(sha256);
}

/** Returns the content store that encrypts received bytes with the customer-provided key, or with
 *  the key of the request's or the container's encryption scope; the one of `runtime` if there is
 *  neither. Each body gets a nonce of its own. */
export function encryptingContent(
  { store, content, random }: Runtime,
  { operation, input, resource, account, address }: EncryptedCall,
): Awaitable<ContentStore> {
  const encryption = inputWithRole(operation, input, "encryption");
  if (encryption === undefined) return content;
  const { clientKey, scope } = encryption;
  if (clientKey !== undefined) {
    return encryptedBy(content, () => ({ key: clientKey.key, nonce: newId(random) }));
  }
  const { scopeKeys } = content;
  const { contentScope } = resource;
  if (scopeKeys === undefined || contentScope === undefined) return content;
  const found = store.snapshot((view) =>
    contentScope(new Records(view, content), { account, address }, scope),
  );
  return found.then((name) =>
    name === undefined ? content : encryptedBy(content, () => scopeKeys.begin(name)),
  );
}

/** The fields of a call on which the encryption of the body depends. */
type EncryptedCall = Pick<Call, "operation" | "input" | "resource" | "account" | "address">;

function encryptedBy(content: ContentStore, begin: () => BodyEncryption): ContentStore {
  return contentWith(content, {
    receive: (body, options) => content.receive(body, { ...options, encryption: begin() }),
  });
}
