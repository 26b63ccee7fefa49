import type { ContentRef } from "../content/content-ref.ts";
import {
  isStructuredForm,
  structuredForm,
  structuredLength,
  writeStructured,
} from "../content/body/structured.ts";
import { encodeBase64 } from "../base/base64.ts";
import { invalidHeader } from "../protocol/faults.ts";
import type { HttpHeaders, Metadata } from "../protocol/metadata.ts";
import { header } from "../protocol/params.ts";
import { clipRange, type ByteRange } from "../protocol/ranges.ts";
import { fail, type Failure } from "../protocol/result.ts";
import type { DeferredUpdate, Reply, ReplyHeaders } from "./reply.ts";

/** The part of Get Blob and Get File that sends content: the whole or a range, with a checksum of
 *  the range, or as a structured body (`x-ms-structured-body`): content with checksums in between,
 *  which newer clients request to verify a download while it arrives. The format of structured
 *  bodies is in `content/body/structured.ts`. */

/** The parameter with which a read asks for a structured body. */
export const wantsStructured = header(
  "x-ms-structured-body",
  // The parser returns undefined for any other value, which is a fault.
  (text) => isStructuredForm(text) || undefined,
);

/** Limit of the services for a range whose checksum is requested. */
const rangeChecksumBytesMax = 4 * 1024 * 1024;

/** Content, and which of it the request asks for. */
interface ContentRead {
  readonly content: ContentRef;
  readonly metadata: Metadata;
  /** Undefined: the whole content. */
  readonly range: ByteRange | undefined;
  /** The checksum of the range that the response must have; undefined: none. */
  readonly checksum: "md5" | "crc64" | undefined;
  readonly wantsStructured: boolean | undefined;
}

/** The stored MD5 of the whole content, and the header that has it in the response to a read of a
 *  range. */
interface StoredMd5 {
  readonly md5: string | undefined;
  readonly rangeHeader: "x-ms-blob-content-md5" | "x-ms-content-md5";
}

/** The reply of a read; `headers` are those that describe the blob or file, to which it adds its
 *  own. A fault if the range is outside the content, or if a checksum is requested without a range
 *  or of a range longer than 4 MiB. Fields are listed and pushed instead of spread, which took a
 *  sixth of the CPU time of Get Blob. */
export function contentReply(
  { content, metadata, range, checksum, wantsStructured: isWanted }: ContentRead,
  headers: ReplyHeaders[],
  { md5, rangeHeader }: StoredMd5,
  deferredUpdate?: DeferredUpdate,
): Reply<never> | Failure {
  const { length: total } = content;
  const span = range === undefined ? { from: 0, length: total } : clipRange(range, total);
  if (span === undefined) {
    return fail("InvalidRange", { headers: { "Content-Range": `bytes */${total}` } });
  }
  const { from, length } = span;
  if (checksum !== undefined && (range === undefined || length > rangeChecksumBytesMax)) {
    return invalidHeader(`x-ms-range-get-content-${checksum}`, "true");
  }
  // A request for a checksum of the range takes precedence: its bytes are sent unchanged.
  const isStructured = isWanted === true && checksum === undefined;
  if (isStructured) headers.push(structuredHeaders(length));
  const body = isStructured
    ? { content, from, length, checksum, ...structuredBody(length) }
    : { content, from, length, checksum };
  if (range === undefined) {
    headers.push({ "Content-MD5": md5 });
    return { status: 200, metadata, headers, body, deferredUpdate };
  }
  const place = `bytes ${from}-${from + length - 1}/${total}`;
  headers.push({ "Content-Range": place }, { [rangeHeader]: md5 });
  return { status: 206, metadata, headers, body, deferredUpdate };
}

function structuredHeaders(length: number) {
  return {
    "x-ms-structured-body": structuredForm,
    "x-ms-structured-content-length": String(length),
  };
}

function structuredBody(length: number) {
  return {
    transform: (chunks: AsyncIterable<Uint8Array>) => writeStructured(chunks, length),
    transformedLength: structuredLength(length),
  };
}

/** The MD5 of the whole content that is stored with a blob or file. */
export function storedMd5({ contentMd5 }: HttpHeaders): string | undefined {
  return contentMd5 && encodeBase64(contentMd5);
}
