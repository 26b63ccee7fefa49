import type { ReceivedBody } from "../../content/content-ref.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { namesNoETag } from "../../protocol/conditions.ts";
import { parseETagList } from "../../protocol/etag.ts";
import { parseReadRange } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { withoutSignature, type CopySource, type SourceBody } from "../../operation/source.ts";
import { BodyTooLarge, type ContentStore } from "../../content/content.ts";
import { BodyLengthMismatch } from "../../content/receive.ts";
import { tooLarge } from "../body.ts";
import { compare, needsMd5, parseChecksums } from "../body-checksums.ts";
import type { WireRequest } from "../wire.ts";
import { clientSignal, requireClient, whileConnected } from "./client-signal.ts";
import { fetchedPropertiesOf } from "./fetched-properties.ts";
import { readSourceTags } from "./source-tags.ts";
import {
  ask,
  type SourceResponse,
  type SourceReader,
  type SourceRequest,
} from "./source-reader.ts";
import { parseSourceUrl, sourceHeaders } from "./source-url.ts";

/** The bytes of a source, stored as content, and its properties. */
export interface FetchedSource {
  readonly received: ReceivedBody;
  readonly source: CopySource;
}

export interface SourceParts {
  readonly read: SourceReader;
  readonly content: ContentStore;
}

const rangeHeader = "x-ms-source-range";

/** Receives the bytes of `x-ms-copy-source` as if the client had sent them. */
export async function fetchSource(
  { read, content }: SourceParts,
  request: WireRequest,
  body: SourceBody,
  version: string,
): Promise<Result<FetchedSource>> {
  const asked = sourceRequest(request, body, version);
  if (!asked.ok) return asked;
  const { headers } = request;
  const expected = parseChecksums(
    headers["x-ms-source-content-md5"],
    headers["x-ms-source-content-crc64"],
  );
  if (!expected.ok) return expected;
  const answer = await ask(read, asked.value);
  try {
    requireClient(asked.value.signal);
    if (answer.status >= 300) return sourceFault(answer, body, asked.value);
    const md5 = body.md5Always || needsMd5(expected.value, version);
    const received = await receive(content, answer, body.lengthMax(version), {
      inlineBytesMax: body.inlineBytesMax,
      md5,
      signal: asked.value.signal,
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
      const url = withoutSignature(asked.value.url.href);
      const tags = await readSourceTags(read, request, asked.value);
      const properties = { ...fetchedPropertiesOf(answer), tags };
      return ok({ received: received.value, source: { kind: "fetched", url, properties } });
    } catch (error) {
      // The caller does not get these bytes, so they are discarded here.
      content.discard(received.value);
      throw error;
    }
  } finally {
    answer.close();
  }
}

function sourceRequest(
  request: WireRequest,
  body: SourceBody,
  version: string,
): Result<SourceRequest> {
  const url = parseSourceUrl(request, version);
  if (!url.ok) return url;
  const headers = sourceHeaders(request, version);
  const range = body.range === "none" ? undefined : request.headers[rangeHeader];
  if (range !== undefined) {
    if (parseReadRange(range) === undefined) return invalidHeader(rangeHeader, range);
    headers["range"] = range;
  }
  const { remoteAddress, secure } = request;
  const host = request.headers["host"] ?? "";
  const signal = clientSignal(request);
  return ok({ url: url.value, method: "GET", headers, host, remoteAddress, secure, signal });
}

/** The fault of a source that responded with an error. Recorded: it has the status of the source
 *  and, except for pages and appends, its message. */
function sourceFault(
  { status, reason, failure, headers }: SourceResponse,
  { style }: SourceBody,
  asked: SourceRequest,
): Result<never> {
  if (status < 400) return fail("CannotVerifyCopySource", { status: status === 304 ? 304 : 409 });
  const unmet = headers["x-ms-error-code"] === "ConditionNotMet";
  const ifMatch = parseETagList(asked.headers["if-match"] ?? "");
  if (style === "blob-from-url" && unmet && namesNoETag(ifMatch)) {
    return fail("SourceConditionNotMet");
  }
  if (failure !== undefined) return fail("CannotVerifyCopySource", { status, subject: failure });
  if (style === "range-from-url" || reason === "")
    return fail("CannotVerifyCopySource", { status });
  return fail("CannotVerifyCopySource", { status, message: reason });
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
