import { newBytes } from "../encoding/slabs.ts";

/**
 * Keys compare by their UTF-16 units, as the service orders them. Writing every unit as UTF-8 would
 * write a code point of its own (CESU-8) keeps that order byte by byte, which UTF-8 does not: it
 * puts the characters beyond U+FFFF last.
 */

const surrogates = /[\uD800-\uDFFF]/;

export function encodeKeyText(text: string): Uint8Array {
  const plain = text.length <= loopUnitsMax ? encodePlain(text) : undefined;
  if (plain !== undefined) return plain;
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

/** Up to here a loop beats the call that encodes. */
const loopUnitsMax = 64;

function encodePlain(text: string): Uint8Array | undefined {
  const bytes = newBytes(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return undefined;
    bytes[index] = unit;
  }
  return bytes;
}

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

/** The units of a surrogate pair begin with ED A0 to ED BF. */
function hasSurrogates(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if ((bytes[at + 1] ?? 0) >= 0xa0) return true;
  }
  return false;
}
