import { encodeBase64 } from "../../base/base64.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { header, text } from "../../protocol/params.ts";
import { crc64Since } from "../../protocol/versions.ts";
import type { CopySource, SourceBody, FetchedProperties } from "../../operation/source.ts";
import { inlineBlobBytesMax } from "../shared/limits.ts";

/** The body of operations that read a whole blob from the URL of their source. */
export function wholeSource(lengthMax: (version: string) => number): SourceBody {
  return {
    kind: "source",
    lengthMax,
    inlineBytesMax: inlineBlobBytesMax,
    style: "blob-from-url",
    range: "none",
    md5Always: true,
  };
}

/** The MD5 that the source must have. If it is sent, the response contains the MD5, otherwise the
 *  CRC64 (in older versions the MD5). The MD5 is stored in any case. */
export const sourceMd5 = header("x-ms-source-content-md5", text);

/** The checksum header of a response, as described at `sourceMd5`. */
export function sourceChecksumHeader(
  { md5, crc64 }: ReceivedBody,
  { requestMd5, version }: { readonly requestMd5: string | undefined; readonly version: string },
) {
  return requestMd5 === undefined && version >= crc64Since
    ? { "x-ms-content-crc64": crc64 && encodeBase64(crc64) }
    : { "Content-MD5": md5 && encodeBase64(md5) };
}

/** The properties of a source that was fetched by a request; throws for any other source. */
export function remoteSourceOf(source: CopySource | undefined): FetchedProperties {
  if (source?.kind !== "fetched") throw new Error("a body from a URL has no remote source");
  return source.properties;
}
