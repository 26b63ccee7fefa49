import { encodeBase64 } from "../../base/base64.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { crc64Since } from "../../protocol/versions.ts";

/** The checksum header of a write: the MD5 if the client sent one, otherwise the CRC64. Versions
 *  without CRC64 always return the MD5 (recorded). */
export function bodyChecksum({ md5, crc64 }: ReceivedBody, version: string) {
  if (version < crc64Since) return { "Content-MD5": md5 && encodeBase64(md5) };
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
