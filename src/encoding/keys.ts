import { keyScratch, copyBytes } from "../process/bytes.ts";

/** The encoding of the keys of all records, and ranges of keys for scans. Tables (`table.ts`) build
 *  their keys with it. */

/**
 * A key is a tuple of parts, encoded so that comparing the bytes gives the order of the tuples.
 *
 * Every part starts with a byte that says its kind, and kinds are ordered by that byte: bytes `02`,
 * strings `03`, numbers `10`–`17`, big integers `20`–`28`. Bytes and strings end in `00`; inside
 * them `00` becomes `01 01` and `01` becomes `01 02`. The encoding of a tuple is therefore a prefix
 * of exactly those keys whose tuples begin with the same parts. The kind of an integer includes the
 * number of big-endian bytes that follow.
 *
 * Example: `["ab", 258]` is `03 61 62 00  12 01 02`.
 */
export type KeyPart = string | number | bigint | Uint8Array;

/** A range of encoded keys: `start` is inside, `end` is not. */
export interface KeyBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** Longest encoded key. It has room for a blob name of 1,024 three-byte characters, or for the two
 *  keys of a table entity, with the ids before them. */
export const keyBytesMax = 4000;

const kindBytes = 0x02;
const kindString = 0x03;
const kindNumber = 0x10;
const kindBigint = 0x20;
const escapeByte = 0x01;
/** Greater than every byte that can follow a complete part or the start of a string: the end of a
 *  range of all keys that begin like this. */
const beyondAnyPart = 0xff;
const uint64Max = 0xffff_ffff_ffff_ffffn;

/** Encodes a tuple; the result has no tag of a table. */
export function encodeKey(parts: readonly KeyPart[]): Uint8Array {
  return copyBytes(keyScratch, 0, writeParts(parts, 0));
}

/** Like `encodeKey`, preceded by the tag byte of a table: the form of all keys in the store. */
export function encodeTaggedKey(tag: number, parts: readonly KeyPart[]): Uint8Array {
  keyScratch[0] = tag;
  return copyBytes(keyScratch, 0, writeParts(parts, 1));
}

/** Appends one part to an encoded key, so that keys with equal beginnings need not be encoded as a
 *  whole. `prefix` must end at the end of a part. */
export function encodeKeyBelow(prefix: Uint8Array, part: KeyPart): Uint8Array {
  const { length } = prefix;
  checkLength(length);
  for (let at = 0; at < length; at += 1) keyScratch[at] = prefix[at]!;
  const end = writePart(part, length);
  checkLength(end);
  return copyBytes(keyScratch, 0, end);
}

/** The range of all keys that begin with `prefix`, which must end at the end of a part. */
export function prefixBounds(prefix: Uint8Array): KeyBounds {
  const end = new Uint8Array(prefix.length + 1);
  end.set(prefix);
  end[prefix.length] = beyondAnyPart;
  return { start: prefix, end };
}

/** The range of the keys with this tag that begin with `parts` and whose next part is a string with
 *  this prefix, for listings with a prefix. */
export function stringPrefixBounds(
  tag: number,
  parts: readonly KeyPart[],
  stringPrefix: string,
): KeyBounds {
  keyScratch[0] = tag;
  const at = writeParts(parts, 1);
  keyScratch[at] = kindString;
  const end = writeText(stringPrefix, at + 1);
  checkLength(end);
  return prefixBounds(copyBytes(keyScratch, 0, end));
}

/** The smallest key greater than `key`: with it as its start, a range continues after `key`. */
export function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/** The key that comes later in the order of the store. */
export function laterKey(left: Uint8Array, right: Uint8Array): Uint8Array {
  return compareKeys(left, right) < 0 ? right : left;
}

/** The order of keys in the store: byte by byte. */
export function compareKeys(left: Uint8Array, right: Uint8Array): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function writeParts(parts: readonly KeyPart[], from: number): number {
  let at = from;
  for (const part of parts) {
    at = writePart(part, at);
    checkLength(at);
  }
  return at;
}

function checkLength(length: number): void {
  if (length > keyBytesMax)
    throw new RangeError(`key is longer than ${keyBytesMax} bytes: ${length}`);
}

function writePart(part: KeyPart, at: number): number {
  if (typeof part === "string") {
    keyScratch[at] = kindString;
    const end = writeText(part, at + 1);
    keyScratch[end] = 0;
    return end + 1;
  }
  if (typeof part === "number") return writeNumber(part, at);
  if (typeof part === "bigint") return writeBigint(part, at);
  return writeBytes(part, at);
}

/** Writes a string as UTF-8. A surrogate without its pair is written as three bytes: replacing it,
 *  as UTF-8 requires, would give two different names the same key. */
function writeText(text: string, from: number): number {
  if (text.length > keyBytesMax) checkLength(text.length);
  let at = from;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x01 && unit < 0x80) {
      keyScratch[at++] = unit;
    } else if (unit <= 0x01) {
      keyScratch[at++] = escapeByte;
      keyScratch[at++] = unit + 1;
    } else if (unit < 0x800) {
      keyScratch[at++] = 0xc0 | (unit >> 6);
      keyScratch[at++] = 0x80 | (unit & 0x3f);
    } else {
      const point = text.codePointAt(index) ?? unit;
      if (point > 0xffff) index += 1;
      at = writeWidePoint(point, at);
    }
  }
  return at;
}

function writeWidePoint(point: number, from: number): number {
  let at = from;
  if (point > 0xffff) {
    keyScratch[at++] = 0xf0 | (point >> 18);
    keyScratch[at++] = 0x80 | ((point >> 12) & 0x3f);
  } else {
    keyScratch[at++] = 0xe0 | (point >> 12);
  }
  keyScratch[at++] = 0x80 | ((point >> 6) & 0x3f);
  keyScratch[at++] = 0x80 | (point & 0x3f);
  return at;
}

function writeBytes(bytes: Uint8Array, from: number): number {
  if (bytes.length > keyBytesMax) checkLength(bytes.length);
  let at = from;
  keyScratch[at++] = kindBytes;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte <= 0x01) {
      keyScratch[at++] = escapeByte;
      keyScratch[at++] = byte + 1;
    } else {
      keyScratch[at++] = byte;
    }
  }
  keyScratch[at++] = 0;
  return at;
}

function writeNumber(value: number, at: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`key part must be a non-negative safe integer, got ${value}`);
  }
  let count = 0;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) count += 1;
  keyScratch[at] = kindNumber + count;
  let rest = value;
  for (let index = at + count; index > at; index -= 1) {
    keyScratch[index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return at + 1 + count;
}

/** Shared memory that splits a big integer into two 32-bit halves; shifting it would allocate two
 *  more big integers. */
const halves = new DataView(new ArrayBuffer(8));

function writeBigint(value: bigint, at: number): number {
  if (value < 0n || value > uint64Max) {
    throw new RangeError(`key part must fit into 64 unsigned bits, got ${value}`);
  }
  halves.setBigUint64(0, value);
  let high = halves.getUint32(0);
  let low = halves.getUint32(4);
  const count = high > 0 ? 4 + byteCount(high) : byteCount(low);
  keyScratch[at] = kindBigint + count;
  for (let index = at + count; index > at; index -= 1) {
    keyScratch[index] = low & 0xff;
    low = ((low >>> 8) | ((high & 0xff) << 24)) >>> 0;
    high >>>= 8;
  }
  return at + 1 + count;
}

function byteCount(value: number): number {
  if (value === 0) return 0;
  return 4 - (Math.clz32(value) >> 3);
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Up to this many bytes, a loop over characters is faster than a call of the decoder. */
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

function readBigint(bytes: Uint8Array, cursor: Cursor, count: number): bigint {
  const lowCount = Math.min(count, 4);
  halves.setUint32(0, readNumber(bytes, cursor, count - lowCount));
  halves.setUint32(4, readNumber(bytes, cursor, lowCount));
  return halves.getBigUint64(0);
}

/** A key as a string with one code unit per byte. It can be the key of a `Map`, and `<` compares
 *  two of these strings in byte order. */
export type KeyText = string;

export function textOfKey(key: Uint8Array, from = 0, to = key.length): KeyText {
  return latin1Slice.call(key, from, to);
}

export function keyOfText(text: KeyText): Uint8Array {
  const buffer = Buffer.from(text, "latin1");
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

/** Node's undocumented `latin1Slice`, called on a Uint8Array: wrapping each key in a Buffer first
 *  would double the cost. Saves 8 % of the CPU time of a query. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, from: number, to: number) => string;
};
