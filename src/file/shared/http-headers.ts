import { decodeBase64 } from "../../base/base64.ts";
import type { Param } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { HttpHeaders } from "../../protocol/metadata.ts";

/** The parameter with the HTTP headers to store with a file; undefined if there are none. */
export const fileHeaders: Param<HttpHeaders | undefined> = {
  sources: [
    "x-ms-content-type",
    "Content-Type",
    "x-ms-content-encoding",
    "x-ms-content-language",
    "x-ms-content-md5",
    "x-ms-cache-control",
    "x-ms-content-disposition",
  ],
  parse: (reader) => {
    const md5Text = reader.header("x-ms-content-md5") || undefined;
    const contentMd5 = md5Text === undefined ? undefined : decodeBase64(md5Text);
    // Recorded from Azure: the MD5 is not compared with the content, and may have any length.
    if (md5Text !== undefined && contentMd5 === undefined) return fail("InvalidMd5");
    const headers: HttpHeaders = {
      contentType:
        reader.header("x-ms-content-type") ??
        (reader.version < ownTypeSince ? reader.header("content-type") || undefined : undefined),
      contentEncoding: reader.header("x-ms-content-encoding"),
      contentLanguage: reader.header("x-ms-content-language"),
      contentMd5,
      cacheControl: reader.header("x-ms-cache-control"),
      contentDisposition: reader.header("x-ms-content-disposition"),
    };
    const named = Object.values(headers).some((value) => value !== undefined);
    return ok(named ? headers : undefined);
  },
};

/** The first x-ms-version that takes the content type of a file only from `x-ms-content-type`.
 *  Recorded from Azure: 2018-11-09 and 2019-02-02 also store that of Content-Type. */
const ownTypeSince = "2019-07-07";

export const defaultContentType = "application/octet-stream";

/** The stored headers for a response; callers add the MD5. Empty headers are not sent. */
export function renderHttpHeaders(headers: HttpHeaders) {
  return {
    "Content-Type": headers.contentType || undefined,
    "Content-Encoding": headers.contentEncoding || undefined,
    "Content-Language": headers.contentLanguage || undefined,
    "Cache-Control": headers.cacheControl || undefined,
    "Content-Disposition": headers.contentDisposition || undefined,
  };
}
