import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import type { HttpHeaders } from "../records.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { crc64Since, type Version } from "../../protocol/versions.ts";

const md5Bytes = 16;

/** The content headers of a blob, in `x-ms-blob-content-type` and similar headers. */
export const blobHeaders: Param<HttpHeaders> = {
  sources: [
    "x-ms-blob-content-type",
    "x-ms-blob-content-encoding",
    "x-ms-blob-content-language",
    "x-ms-blob-content-md5",
    "x-ms-blob-cache-control",
    "x-ms-blob-content-disposition",
  ],
  parse: (reader) => parseHeaders(reader, false),
};

/** As `blobHeaders`, for Put Blob: the content headers of the request itself are the defaults. */
export const blobOrRequestHeaders: Param<HttpHeaders> = {
  sources: [...blobHeaders.sources, "Content-Type", "Content-Encoding", "Content-Language"],
  parse: (reader) => parseHeaders(reader, true),
};

/** Recorded: only Put Blob, which verifies the MD5, checks its length. */
function parseHeaders(reader: ParamReader, usesRequestHeaders: boolean): Result<HttpHeaders> {
  const readHeader = (blobName: string, requestName: string) =>
    reader.header(blobName) ?? (usesRequestHeaders ? reader.header(requestName) : undefined);
  const md5Text = reader.header("x-ms-blob-content-md5");
  const contentMd5 = md5Text === undefined || md5Text === "" ? undefined : decodeBase64(md5Text);
  const isMd5 = contentMd5 !== undefined && (!usesRequestHeaders || contentMd5.length === md5Bytes);
  if (md5Text !== undefined && md5Text !== "" && !isMd5) return fail("InvalidMd5");
  return ok({
    contentType: readHeader("x-ms-blob-content-type", "content-type") || undefined,
    contentEncoding: readHeader("x-ms-blob-content-encoding", "content-encoding"),
    contentLanguage: readHeader("x-ms-blob-content-language", "content-language"),
    contentMd5,
    cacheControl: readHeader("x-ms-blob-cache-control", "cache-control"),
    contentDisposition: reader.header("x-ms-blob-content-disposition"),
  });
}

const defaultContentType = "application/octet-stream";

/** The stored MD5 of the whole content; responses to range reads have it as
 *  `x-ms-blob-content-md5`. */
export function storedMd5({ contentMd5 }: HttpHeaders): string | undefined {
  return contentMd5 === undefined ? undefined : encodeBase64(contentMd5);
}

/** The content headers of a response. Recorded: empty values are omitted, except that of
 *  Content-Disposition. */
export function renderHttpHeaders(headers: HttpHeaders) {
  return {
    "Content-Type": contentTypeOf(headers) || undefined,
    "Content-Encoding": headers.contentEncoding || undefined,
    "Content-Language": headers.contentLanguage || undefined,
    "Cache-Control": headers.cacheControl || undefined,
    "Content-Disposition": headers.contentDisposition,
  };
}

/** The content type: empty after Set Blob Properties without one, the default for a blob that was
 *  created without one. */
export function contentTypeOf({ contentType }: HttpHeaders): string {
  return contentType ?? defaultContentType;
}

/** The first version in which a write with an MD5 also returns the CRC64. */
const bothSince: Version = "2026-10-06";

/** The checksum header of a write: the MD5 if the client sent one, otherwise the CRC64. Versions
 *  without CRC64 always return the MD5 (recorded). */
export function bodyChecksum(received: ReceivedBody, version: string) {
  const { md5, crc64 } = received;
  if (version < crc64Since) return { "Content-MD5": md5 && encodeBase64(md5) };
  if (version >= bothSince) return bothChecksums(received, version);
  return md5 !== undefined
    ? { "Content-MD5": encodeBase64(md5) }
    : { "x-ms-content-crc64": crc64 && encodeBase64(crc64) };
}

/** The checksum headers of Put Page and Append Block From URL. Recordings have either checksum, so
 *  the response has both. */
export function bothChecksums({ md5, crc64 }: ReceivedBody, version: string) {
  return {
    "Content-MD5": md5 && encodeBase64(md5),
    "x-ms-content-crc64": version < crc64Since ? undefined : crc64 && encodeBase64(crc64),
  };
}
