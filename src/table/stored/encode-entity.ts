import { copyBytes } from "../../encoding/slabs.ts";
import type { Ticks } from "../../base/ticks.ts";
import { edm, type EdmType, type EdmValue, type Property } from "../edm/edm.ts";
import { entityVersion, headBytes, isPlain, isWide } from "./form.ts";

const roomBytesFirst = 64 * 1024;
/** No code unit becomes more bytes, in UTF-8 or UTF-16. */
const bytesPerUnitMax = 3;
/** What a property takes besides its name and the text or bytes of its value. */
const fixedBytesMax = 16;

let room = Buffer.alloc(roomBytesFirst);
let used = 0;
/** Of which the head of the room tells: what a transaction writes has one moment in common. */
let writtenETag: Ticks | undefined;

/** An entity in the form that `EntityRecord` reads. */
export function encodeEntity(etag: Ticks, properties: readonly Property[]): Uint8Array {
  if (etag !== writtenETag) {
    room[0] = entityVersion;
    room.writeBigUInt64LE(etag, 1);
    writtenETag = etag;
  }
  used = headBytes;
  for (const [name, type, value] of properties) writeProperty(name, type, value);
  const bytes = copyBytes(room, 0, used);
  // An entity of a megabyte is rare; its room is not kept.
  if (room.length > roomBytesFirst) {
    room = Buffer.alloc(roomBytesFirst);
    writtenETag = undefined;
  }
  return bytes;
}

function writeProperty(name: string, type: EdmType, value: EdmValue): void {
  reserve(name.length * bytesPerUnitMax + fixedBytesMax);
  const head = used;
  room[head] = type;
  used = head + 3;
  writeText(name);
  const nameBytes = used - head - 3;
  room[head + 1] = nameBytes & 0xff;
  room[head + 2] = nameBytes >> 8;
  switch (type) {
    case edm.string:
    case edm.guid: {
      const flags = writeSizedText(value as string);
      // The room may be another by now.
      room[head] = type | flags;
      return;
    }
    case edm.binary:
      writeSizedBytes(value as Uint8Array);
      return;
    case edm.boolean:
      room[used++] = value === true ? 1 : 0;
      return;
    case edm.int32:
      used = room.writeInt32LE(value as number, used);
      return;
    case edm.double:
      used = room.writeDoubleLE(value as number, used);
      return;
    case edm.int64:
    case edm.dateTime:
      used = room.writeBigInt64LE(value as bigint, used);
      return;
  }
}

/** Writes the text behind its length, and gives what the head has to say about it. */
function writeSizedText(text: string): number {
  reserve(text.length * bytesPerUnitMax + fixedBytesMax);
  const at = used;
  used += 4;
  const flags = writeText(text);
  room.writeUInt32LE(used - at - 4, at);
  return flags;
}

// eslint-disable-next-line no-control-regex -- what JSON has to escape
const escaped = /["\\\u0000-\u001F]/;
const surrogate = /\p{Surrogate}/u;

function writeText(text: string): number {
  let flags = isPlain;
  const { length } = text;
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return writeWideText(text);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) flags = 0;
    room[used + index] = unit;
  }
  used += length;
  return flags;
}

/** UTF-8 has no way to say half of a surrogate pair. */
function writeWideText(text: string): number {
  if (surrogate.test(text)) {
    used += room.write(text, used, "utf16le");
    return isWide;
  }
  used += room.write(text, used, "utf8");
  return escaped.test(text) ? 0 : isPlain;
}

function writeSizedBytes(bytes: Uint8Array): void {
  reserve(bytes.length + fixedBytesMax);
  used = room.writeUInt32LE(bytes.length, used);
  room.set(bytes, used);
  used += bytes.length;
}

function reserve(more: number): void {
  if (used + more <= room.length) return;
  const larger = Buffer.alloc(Math.max(used + more, 2 * room.length));
  larger.set(room.subarray(0, used));
  room = larger;
}
