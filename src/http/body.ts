import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import { about, invalidHeader } from "../protocol/faults.ts";
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

/** A body as the decision gets it. */
export interface Body {
  /** What the operation's parser made of a small body. */
  readonly parsed: unknown;
  readonly received: ReceivedBody | undefined;
}

export interface Checksums {
  readonly md5: Uint8Array | undefined;
  readonly crc64: Uint8Array | undefined;
}

const md5Bytes = 16;
const crc64Length = 8;
const noBody = ok<Body>({ parsed: undefined, received: undefined });

/** Takes the body the operation declares, checks it against what the client said of it. */
export async function receiveBody(
  request: WireRequest,
  operation: Operation,
  version: string,
  content: ContentStore,
): Promise<Result<Body>> {
  const spec = operation.body;
  if (spec.kind === "transaction") throw new Error("a transaction takes its parts in itself");
  if (spec.kind === "none" || spec.kind === "source") return noBody;
  const expected = readChecksums(request, spec);
  if (!expected.ok) return expected;
  if (spec.kind === "content") return receive(request, spec, version, content, expected.value);
  const bytes = await collect(request, spec.bytesMax);
  if (!bytes.ok) return bytes;
  if (bytes.value.length > wholeBytesMax && request.memory !== undefined) {
    if (documents.isFullFor(bytes.value.length)) return serverBusy;
    await request.memory.enter(documents, bytes.value.length);
  }
  const { md5, crc64 } = expected.value;
  // Most that a parser turns into records answer no checksum: only the client's own is looked at.
  const isAnswered = operation.success.headers.includes("x-ms-content-crc64");
  const isUnchecked = !isAnswered && md5 === undefined && crc64 === undefined;
  if (isUnchecked) return parseSmall(spec, bytes.value, undefined, request);
  const received = checksumsOf(bytes.value, expected.value, version);
  const intact = compare(expected.value, received);
  return intact.ok ? parseSmall(spec, bytes.value, received, request) : intact;
}

/** Responses tell the MD5 if the client named one, or if its version has no other checksum. */
export function needsMd5({ md5 }: Checksums, version: string): boolean {
  return md5 !== undefined || version < crc64Since;
}

function checksumsOf(bytes: Uint8Array, expected: Checksums, version: string): ReceivedBody {
  const crc64 = crc64Bytes(crc64Of(bytes));
  const base = { length: bytes.length, pieces: [], crc64 };
  return needsMd5(expected, version) ? { ...base, md5: md5Of(bytes) } : base;
}

/** What an unread body would cost: refused by its announced length, before it is asked for. */
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
    return needsLength ? fail("MissingContentLengthHeader") : ok(undefined);
  }
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < 0) return invalidHeader("Content-Length", text);
  const spec = operation.body;
  if (spec.kind === "none" || spec.kind === "source") return ok(undefined);
  const limit = spec.kind === "content" ? spec.lengthMax(version) : spec.bytesMax;
  return length > limit ? tooLarge(limit) : ok(undefined);
}

const emptyBody = invalidHeader("Content-Length", "0");

/** Comes after the parameters: recorded, a Put Page without range and body misses its range. An
 *  empty body whose length was not announced is refused when it has been received. */
export function checkEmptyBody(request: WireRequest, { body }: Operation): Result<void> {
  const isEmpty = request.headers["content-length"] === "0";
  const isRefused = isEmpty && body.kind === "content" && body.nonEmpty;
  return isRefused ? emptyBody : ok(undefined);
}

async function receive(
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

/** Up to here memory is set aside for a body that was only announced. */
const wholeBytesMax = 64 * 1024;

/** What a parser makes of a long body is several times as large: so much is worked on at once. */
const documentBytesMax = 8 * 1024 * 1024;
const documents = new ByteLimiter(documentBytesMax);

/** Whether a request may hold so many more bytes until it is over. */
export function mayHold({ memory }: WireRequest, bytes: number): boolean {
  return memory === undefined || memory.hold(bytes);
}

/** What a chunk takes besides its bytes, which may be a single one. */
const chunkOverheadBytes = 128;

/** A body on its way to the disk is in memory up to this (`content/body-sink.ts`). */
export const streamedBytesMax = 512 * 1024;

/** A small body in one piece. */
export async function collect(request: WireRequest, bytesMax: number): Promise<Result<Uint8Array>> {
  const { whole } = request;
  if (whole !== undefined) return whole.length > bytesMax ? tooLarge(bytesMax) : ok(whole);
  const length = Number(request.headers["content-length"]);
  if (length <= wholeBytesMax && request.body.whole !== undefined) {
    if (length > bytesMax) return tooLarge(bytesMax);
    return mayHold(request, length) ? ok(await request.body.whole(length)) : serverBusy;
  }
  const chunks: Uint8Array[] = [];
  let taken = 0;
  for await (const chunk of request.body) {
    taken += chunk.length;
    if (taken > bytesMax) return tooLarge(bytesMax);
    if (!mayHold(request, chunk.length + chunkOverheadBytes)) return serverBusy;
    chunks.push(chunk);
  }
  return ok(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, taken));
}

function parseSmall(
  spec: Extract<BodySpec<unknown>, { kind: "xml" | "bytes" }>,
  bytes: Uint8Array,
  received: ReceivedBody | undefined,
  request: WireRequest,
): Awaitable<Result<Body>> {
  const parsed = spec.kind === "xml" ? parseXmlBody(spec, bytes) : parseBytes(spec, bytes, request);
  return mapAwaitable(parsed, (done) =>
    done.ok ? ok({ parsed: done.value, received }) : about(done, "request body"),
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
  // It names a property of the blob, so that it may stand beside a CRC64 of the body.
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
  return ok({ md5, crc64 });
}

export function compare(expected: Checksums, actual: ReceivedBody): Result<void> {
  if (expected.md5 !== undefined && !same(expected.md5, actual.md5)) {
    return mismatch("Md5Mismatch", "Md5", expected.md5, actual.md5);
  }
  if (expected.crc64 !== undefined && !same(expected.crc64, actual.crc64)) {
    return mismatch("Crc64Mismatch", "Crc", expected.crc64, actual.crc64);
  }
  return ok(undefined);
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
