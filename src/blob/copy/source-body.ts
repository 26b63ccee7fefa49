import { encodeBase64 } from "../../base/base64.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { header, text } from "../../protocol/params.ts";
import { crc64Since } from "../../protocol/versions.ts";
import type { CopySource, SourceBody, SourceFound } from "../../operation/source.ts";
import { inlineBlobBytesMax } from "../shared/limits.ts";

/** A whole blob whose bytes are taken from a URL. */
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

/** The answer tells the MD5 if the client named one, else the CRC64, which older versions do not
 *  have; stored is the MD5 always. */
export const sourceMd5 = header("x-ms-source-content-md5", text);

export function sourceChecksumHeader(
  { md5, crc64 }: ReceivedBody,
  { asked, version }: { readonly asked: string | undefined; readonly version: string },
) {
  return asked === undefined && version >= crc64Since
    ? { "x-ms-content-crc64": crc64 && encodeBase64(crc64) }
    : { "Content-MD5": md5 && encodeBase64(md5) };
}

export function remoteSourceOf(source: CopySource | undefined): SourceFound {
  if (source?.kind !== "elsewhere") throw new Error("the bytes were taken from somewhere");
  return source.found;
}
