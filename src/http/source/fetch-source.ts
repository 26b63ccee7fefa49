import type { ReceivedBody } from "../../content/content-ref.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { namesNoETag, parseETagList } from "../../protocol/conditions.ts";
import { parseReadRange } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { cannotVerifySource } from "../../protocol/source-conditions.ts";
import { withoutSignature, type CopySource, type SourceBody } from "../../operation/source.ts";
import { BodyTooLarge, type ContentStore } from "../../content/content.ts";
import { BodyLengthMismatch } from "../../content/body/receive.ts";
import {
  compare,
  mayHold,
  needsMd5,
  parseChecksums,
  streamedBytesMax,
  tooLarge,
  encryptingContent,
} from "../request/body.ts";
import type { WireRequest } from "../wire.ts";
import {
  fetchedPropertiesOf,
  requestSource,
  type SourceReader,
  type SourceRequest,
  type SourceResponse,
} from "./source-reader.ts";
import {
  parseSourceUrl,
  requireClient,
  sourceRequestOf,
  whileConnected,
} from "./source-request.ts";
import { checkTags, type Tags } from "../../protocol/tags.ts";
import { parseXml, xmlChild, xmlChildText } from "../../encoding/xml.ts";
import { precheck, type Call, type Outcome } from "../../operation/execute.ts";
import { serverBusy } from "../limits/processing-limits.ts";
import type { HttpService } from "../http-service.ts";
import type { PreparedCall } from "../request/prepare.ts";

/** Fetches the bytes of a copy source for the operations that store them at once: Put Block From
 *  URL, Put Blob From URL and the like. `http/request/prepare.ts` calls it in place of
 *  `receiveBody`. */

/** The bytes of a source, stored as content, and the properties of the source. */
interface FetchedSource {
  readonly received: ReceivedBody;
  readonly source: CopySource;
}

interface SourceParts {
  readonly read: SourceReader;
  readonly content: ContentStore;
}

const rangeHeader = "x-ms-source-range";

/** Requests the source of a copy, checks the response, and stores its bytes as a sent body. */
export async function fetchSource(
  { read, content }: SourceParts,
  request: WireRequest,
  body: SourceBody,
  version: string,
): Promise<Result<FetchedSource>> {
  const outgoing = sourceRequest(request, body, version);
  if (!outgoing.ok) return outgoing;
  const { headers } = request;
  const expected = parseChecksums(
    headers["x-ms-source-content-md5"],
    headers["x-ms-source-content-crc64"],
  );
  if (!expected.ok) return expected;
  const response = await requestSource(read, outgoing.value);
  try {
    requireClient(outgoing.value.signal);
    const usable = checkResponse(response, body, outgoing.value, version);
    if (!usable.ok) return usable;
    const md5 = body.md5Always || needsMd5(expected.value, version);
    const received = await receive(content, response, body.lengthMax(version), {
      inlineBytesMax: body.inlineBytesMax,
      md5,
      signal: outgoing.value.signal,
    });
    if (!received.ok) return received;
    if (received.value.length === 0 && body.nonEmpty === true) {
      content.discard(received.value);
      return invalidHeader(rangeHeader, headers[rangeHeader] ?? "");
    }
    const intact = compare(expected.value, received.value);
    if (!intact.ok) {
      content.discard(received.value);
      return intact;
    }
    try {
      const url = withoutSignature(outgoing.value.url.href);
      const tags = await readSourceTags(read, request, outgoing.value);
      const properties = { ...fetchedPropertiesOf(response), tags };
      return ok({ received: received.value, source: { kind: "fetched", url, properties } });
    } catch (error) {
      // No operation refers to the bytes after an error, so they are discarded here.
      content.discard(received.value);
      throw error;
    }
  } finally {
    response.close();
  }
}

function sourceRequest(
  request: WireRequest,
  body: SourceBody,
  version: string,
): Result<SourceRequest> {
  const url = parseSourceUrl(request, version);
  if (!url.ok) return url;
  const range = body.range === "none" ? undefined : request.headers[rangeHeader];
  const outgoing = sourceRequestOf(request, { url: url.value, method: "GET", version });
  if (range === undefined) return ok(outgoing);
  if (parseReadRange(range) === undefined) return invalidHeader(rangeHeader, range);
  return ok({ ...outgoing, headers: { ...outgoing.headers, range } });
}

/** Checks that a source can be read, without reading its bytes. Used if the target has rejected the
 *  request already: Azure returns the fault of the source first, if there is one. */
async function checkSourceOnly(
  read: SourceReader,
  request: WireRequest,
  body: SourceBody,
  version: string,
): Promise<Result<void>> {
  const outgoing = sourceRequest(request, body, version);
  if (!outgoing.ok) return outgoing;
  const response = await requestSource(read, outgoing.value);
  response.close();
  requireClient(outgoing.value.signal);
  return checkResponse(response, body, outgoing.value, version);
}

function checkResponse(
  response: SourceResponse,
  body: SourceBody,
  outgoing: SourceRequest,
  version: string,
): Result<void> {
  if (response.status >= 300) return sourceFault(response, body, outgoing, version);
  const { "x-ms-blob-type": type = "BlockBlob" } = response.headers;
  // The status 409 is recorded from Azure.
  if (body.onlyBlockBlobs !== true || type === "BlockBlob") return ok(undefined);
  return fail("CannotVerifyCopySource", { status: 409 });
}

/** The fault of a source that responded with an error. Recorded from Azure: it has the status of
 *  the source and, except for pages and appends, its message. */
function sourceFault(
  { status, reason, failure, headers }: SourceResponse,
  { style }: SourceBody,
  outgoing: SourceRequest,
  version: string,
): Result<never> {
  const code = headers["x-ms-error-code"];
  const error = { status, code, message: reason };
  if (status < 400) {
    return cannotVerifySource(error, version, { status: status === 304 ? 304 : 409 });
  }
  const unmet = code === "ConditionNotMet";
  const ifMatch = parseETagList(outgoing.headers["if-match"] ?? "");
  if (style === "blob-from-url" && unmet && namesNoETag(ifMatch)) {
    return fail("SourceConditionNotMet");
  }
  if (failure !== undefined) return fail("CannotVerifyCopySource", { status, subject: failure });
  const isOwnMessage = style === "range-from-url" || reason === "";
  return cannotVerifySource(
    error,
    version,
    isOwnMessage ? { status } : { status, message: reason },
  );
}

interface ReceiveOptions {
  readonly inlineBytesMax: number;
  readonly md5: boolean;
  readonly signal: AbortSignal | undefined;
}

async function receive(
  content: ContentStore,
  { body, headers }: SourceResponse,
  lengthMax: number,
  { signal, ...options }: ReceiveOptions,
): Promise<Result<ReceivedBody>> {
  const announced = Number(headers["content-length"] ?? Number.NaN);
  if (announced > lengthMax) return tooLarge(lengthMax);
  const length = Number.isSafeInteger(announced) ? { length: announced } : {};
  const chunks = whileConnected(body, signal);
  try {
    return ok(await content.receive(chunks, { ...length, lengthMax, ...options, crc64: true }));
  } catch (error) {
    requireClient(signal);
    if (error instanceof BodyTooLarge) return tooLarge(lengthMax);
    const brokeOff = error instanceof Error && "code" in error && typeof error.code === "string";
    if (brokeOff || error instanceof BodyLengthMismatch) {
      return fail("CannotVerifyCopySource", { status: 400 });
    }
    throw error;
  }
}

const tagsBytesMax = 64 * 1024;

/** Reads the tags of the source by a second request; undefined if the copy does not ask for
 *  them. */
async function readSourceTags(
  read: SourceReader,
  { headers }: WireRequest,
  outgoing: SourceRequest,
): Promise<Tags | undefined> {
  if (headers["x-ms-copy-source-tag-option"]?.toUpperCase() !== "COPY") return undefined;
  const url = new URL(outgoing.url);
  url.search += `${url.search === "" ? "?" : "&"}comp=tags`;
  const { range: _range, ...kept } = outgoing.headers;
  const response = await requestSource(read, { ...outgoing, url, headers: kept });
  try {
    return response.status === 200 ? parseTags(await collect(response.body)) : undefined;
  } finally {
    response.close();
  }
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > tagsBytesMax) break;
    chunks.push(Uint8Array.from(chunk));
  }
  return Buffer.concat(chunks);
}

function parseTags(bytes: Uint8Array): Tags | undefined {
  const document = parseXml(bytes);
  const set = document.ok ? xmlChild(document.value, "TagSet") : undefined;
  const pairs = set?.children.map(
    (tag) => [xmlChildText(tag, "Key") ?? "", xmlChildText(tag, "Value") ?? ""] as const,
  );
  const tags = checkTags(pairs ?? []);
  return tags.ok && pairs !== undefined && pairs.length > 0 ? tags.value : undefined;
}

function hasChecksum({ headers }: WireRequest): boolean {
  const md5 = headers["x-ms-source-content-md5"];
  return (md5 ?? headers["x-ms-source-content-crc64"]) !== undefined;
}

/** Whether the target was rejected by an `If-None-Match: *` that is checked only after the
 *  source. */
function isCheckedLast({ operation, conditions }: Call, outcome: Outcome): boolean {
  const isAny = conditions.ifNoneMatch === "*" && operation.ifNoneMatchAny === "last";
  if (!isAny || outcome.kind !== "fault") return false;
  return outcome.fault.detail?.failedCondition === "If-None-Match";
}

/** Fetches the bytes of a source body, after the checks of the target have passed. */
export async function receiveSource(
  { runtime, sources }: HttpService,
  request: WireRequest,
  call: Call,
  body: SourceBody,
): Promise<PreparedCall> {
  const rejection = await precheck(runtime, call);
  // Recorded from Azure: the fault of a wrong source checksum takes precedence over faults of the
  // target.
  if (rejection !== undefined && !hasChecksum(request)) {
    if (!isCheckedLast(call, rejection)) return { call, outcome: rejection };
    const checked = await checkSourceOnly(sources.read, request, body, call.version);
    return checked.ok ? { call, outcome: rejection } : checked;
  }
  if (!mayHold(request, streamedBytesMax)) return serverBusy;
  const content = await encryptingContent(runtime, call);
  const parts = { read: sources.read, content };
  const fetched = await fetchSource(parts, request, body, call.version);
  return fetched.ok ? ok({ ...call, ...fetched.value }) : fetched;
}
