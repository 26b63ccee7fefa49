import { encodeBase64 } from "../../base/base64.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { crc64Since } from "../../protocol/versions.ts";

/** The MD5 if the client sent one, else the CRC64; never both. Versions that do not have the CRC64
 *  always get the MD5 (recorded). */
export function bodyChecksum({ md5, crc64 }: ReceivedBody, version: string) {
  if (version < crc64Since) return { "Content-MD5": md5 && encodeBase64(md5) };
  return md5 !== undefined
    ? { "Content-MD5": encodeBase64(md5) }
    : { "x-ms-content-crc64": crc64 && encodeBase64(crc64) };
}

/** Pages and appends from a URL: recorded with the one in some years, with the other in others. */
export function bothChecksums({ md5, crc64 }: ReceivedBody, version: string) {
  return {
    "Content-MD5": md5 && encodeBase64(md5),
    "x-ms-content-crc64": version < crc64Since ? undefined : crc64 && encodeBase64(crc64),
  };
}
