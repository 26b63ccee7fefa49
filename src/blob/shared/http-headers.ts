import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import type { HttpHeaders } from "../records.ts";

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
    contentType: readHeader("x-ms-blob-content-type", "content-type"),
    contentEncoding: readHeader("x-ms-blob-content-encoding", "content-encoding"),
    contentLanguage: readHeader("x-ms-blob-content-language", "content-language"),
    contentMd5,
    cacheControl: readHeader("x-ms-blob-cache-control", "cache-control"),
    contentDisposition: reader.header("x-ms-blob-content-disposition"),
  });
}

export const defaultContentType = "application/octet-stream";

/** The stored MD5 of the whole content; responses to range reads have it as
 *  `x-ms-blob-content-md5`. */
export function storedMd5({ contentMd5 }: HttpHeaders): string | undefined {
  return contentMd5 === undefined ? undefined : encodeBase64(contentMd5);
}

/** The content headers of a response; empty values are omitted. */
export function renderHttpHeaders(headers: HttpHeaders) {
  return {
    "Content-Type": headers.contentType || defaultContentType,
    "Content-Encoding": headers.contentEncoding || undefined,
    "Content-Language": headers.contentLanguage || undefined,
    "Cache-Control": headers.cacheControl || undefined,
    "Content-Disposition": headers.contentDisposition || undefined,
  };
}
