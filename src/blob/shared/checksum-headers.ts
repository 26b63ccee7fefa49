import { encodeBase64 } from "../../core/base64.ts";
import type { Received } from "../../core/content-ref.ts";

/** The MD5 if the client sent one, else the CRC64; never both. */
export function bodyChecksum({ md5, crc64 }: Received) {
  return md5 !== undefined
    ? { "Content-MD5": encodeBase64(md5) }
    : { "x-ms-content-crc64": crc64 && encodeBase64(crc64) };
}

/** Pages and appends from a URL: recorded with the one in some years, with the other in others. */
export function bothChecksums({ md5, crc64 }: Received) {
  return {
    "Content-MD5": md5 && encodeBase64(md5),
    "x-ms-content-crc64": crc64 && encodeBase64(crc64),
  };
}
