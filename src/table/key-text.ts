import { newBytes } from "../process/bytes.ts";
import { bareETag, type Conditions } from "../protocol/conditions.ts";
import { missingHeader } from "../protocol/faults.ts";
import type { ParamReader } from "../protocol/params.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import { formatDateTime, parseDateTime } from "./edm/edm.ts";

/** The text forms of entity keys and ETags. Keys are stored so that their bytes sort as the service
 *  sorts keys: by UTF-16 code units. CESU-8 encodes each unit of a surrogate pair by itself and
 *  keeps that order. UTF-8 does not: it sorts characters beyond U+FFFF last. */

const surrogates = /[\uD800-\uDFFF]/;

export function encodeKeyText(text: string): Uint8Array {
  const ascii = text.length <= loopUnitsMax ? encodeAscii(text) : undefined;
  if (ascii !== undefined) return ascii;
  if (!surrogates.test(text)) return Buffer.from(text, "utf8");
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** Up to this length, a loop over ASCII characters is faster than a call of Node's encoder. */
const loopUnitsMax = 64;

function encodeAscii(text: string): Uint8Array | undefined {
  const bytes = newBytes(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return undefined;
    bytes[index] = unit;
  }
  return bytes;
}

/** The inverse of `encodeKeyText`, for keys that a scan has read. */
export function decodeKeyText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!hasSurrogates(bytes)) return buffer.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const width = first < 0x80 ? 1 : first < 0xe0 ? 2 : 3;
    const unit =
      width === 3
        ? ((first & 0x0f) << 12) |
          (((bytes[at + 1] ?? 0) & 0x3f) << 6) |
          ((bytes[at + 2] ?? 0) & 0x3f)
        : width === 2
          ? ((first & 0x1f) << 6) | ((bytes[at + 1] ?? 0) & 0x3f)
          : first;
    text += String.fromCharCode(unit);
    at += width;
  }
  return text;
}

/** Whether encoded keys contain a surrogate: the bytes ED A0 to ED BF, and a third byte. */
function hasSurrogates(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if ((bytes[at + 1] ?? 0) >= 0xa0) return true;
  }
  return false;
}

/** The ETag of an entity, as the service forms it from the time of the last change:
 *  `W/"datetime'2022-05-06T00%3A34%3A41.820498Z'"`. */
export function formatEntityETag(etag: Ticks): string {
  return `W/"datetime'${formatDateTime(etag).replaceAll(":", "%3A")}'"`;
}

const etagForm = /^W\/"datetime'([^']{1,40})'"$/;

function parseEntityETag(text: string): Ticks | undefined {
  const inner = etagForm.exec(text.trim())?.[1];
  return inner === undefined ? undefined : parseDateTime(inner.replaceAll(/%3a/gi, ":"));
}

const weakForm = /^W\/"[^"]*"$/;

/** Parses If-Match of operations on entities. Recorded from Azure: a weak ETag (`W/"…"`) of another
 *  form than those of entities matches none (412); any other text is 400. */
export function readMatch(reader: ParamReader): Result<Conditions> {
  const text = reader.header("if-match");
  if (text === undefined) return missingHeader("If-Match");
  if (reader.header("if-none-match") !== undefined) return fail("InvalidInput");
  if (text.trim() === "*") return ok({ ifMatch: "*" });
  const etag = parseEntityETag(text);
  if (etag !== undefined) return ok({ ifMatch: [bareETag(etag)] });
  if (weakForm.test(text.trim())) return ok({ ifMatch: [text.trim()] });
  const message =
    `The etag value '${text}' specified in one of the request headers is not valid. ` +
    "Please make sure only one etag value is specified and is valid.";
  return fail("InvalidInput", { message });
}
