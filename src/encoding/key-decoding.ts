import type { KeyPart } from "./keys.ts";

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Up to this length a loop is faster than a call of the decoder. */
const loopBytesMax = 40;

interface Cursor {
  at: number;
}

/** Inverse of `encodeKey`. `from` is the offset of the tuple, 1 for a key with a tag byte. Throws
 *  for bytes that are no encoded key. */
export function decodeKey(bytes: Uint8Array, from = 0): KeyPart[] {
  const parts: KeyPart[] = [];
  const cursor: Cursor = { at: from };
  while (cursor.at < bytes.length) parts.push(readPart(bytes, cursor));
  return parts;
}

function readPart(bytes: Uint8Array, cursor: Cursor): KeyPart {
  const kind = bytes[cursor.at] ?? 0;
  cursor.at += 1;
  if (kind === 0x03) return decodeText(readTerminated(bytes, cursor));
  if (kind === 0x02) return readTerminated(bytes, cursor).slice();
  if (kind >= 0x10 && kind <= 0x17) return readNumber(bytes, cursor, kind - 0x10);
  if (kind >= 0x20 && kind <= 0x28) return readBigint(bytes, cursor, kind - 0x20);
  throw new RangeError(`not an encoded key: kind ${kind} at ${cursor.at - 1}`);
}

function readTerminated(bytes: Uint8Array, cursor: Cursor): Uint8Array {
  const start = cursor.at;
  const end = bytes.indexOf(0, start);
  if (end < 0) throw new RangeError("not an encoded key: unterminated part");
  cursor.at = end + 1;
  const raw = bytes.subarray(start, end);
  return raw.includes(1) ? unescape(raw) : raw;
}

function unescape(raw: Uint8Array): Uint8Array {
  const plain = new Uint8Array(raw.length);
  let length = 0;
  for (let index = 0; index < raw.length; index += 1) {
    const byte = raw[index] ?? 0;
    if (byte === 1) index += 1;
    plain[length++] = byte === 1 ? (raw[index] ?? 1) - 1 : byte;
  }
  return plain.subarray(0, length);
}

function decodeText(bytes: Uint8Array): string {
  if (bytes.length <= loopBytesMax) return decodeTextLeniently(bytes);
  try {
    return strictDecoder.decode(bytes);
  } catch {
    // The strict decoder rejects lone surrogates, which `encodeKey` keeps.
    return decodeTextLeniently(bytes);
  }
}

function decodeTextLeniently(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      text += String.fromCharCode(lead);
      at += 1;
      continue;
    }
    const count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    let point = lead & (0xff >> (count + 1));
    for (let index = 1; index < count; index += 1) {
      point = (point << 6) | ((bytes[at + index] ?? 0) & 0x3f);
    }
    text += String.fromCodePoint(point);
    at += count;
  }
  return text;
}

function readNumber(bytes: Uint8Array, cursor: Cursor, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index += 1) {
    value = value * 256 + (bytes[cursor.at + index] ?? 0);
  }
  cursor.at += count;
  return value;
}

const halves = new DataView(new ArrayBuffer(8));

function readBigint(bytes: Uint8Array, cursor: Cursor, count: number): bigint {
  const lowCount = Math.min(count, 4);
  halves.setUint32(0, readNumber(bytes, cursor, count - lowCount));
  halves.setUint32(4, readNumber(bytes, cursor, lowCount));
  return halves.getBigUint64(0);
}
