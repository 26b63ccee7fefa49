import { recordCodec, RecordTooNew, type RecordCodec } from "../../encoding/record.ts";
import type { Ticks } from "../../base/ticks.ts";
import { edm, type EdmType, type EdmValue, type Property, type TypedValue } from "../edm/edm.ts";
import { entityVersion, headBytes, isPlain, isWide } from "./entity-format.ts";
import { PropertyCursor, readInt64 } from "./property-cursor.ts";
import { copyBytes } from "../../encoding/slabs.ts";

const cursor = new PropertyCursor();

/** A stored entity. Decodes a property only when it is read. */
export class EntityRecord {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Time of the last change; printed as Timestamp and in the ETag. */
  get etag(): Ticks {
    return readInt64(this.bytes, 1);
  }

  get properties(): readonly Property[] {
    const properties: Property[] = [];
    cursor.start(this.bytes);
    while (cursor.next()) properties.push([cursor.name, cursor.type, cursor.value]);
    return properties;
  }

  /** Undefined if the entity has no such property. */
  find(name: string): TypedValue | undefined {
    const encoded = encodedName(name);
    cursor.start(this.bytes);
    while (cursor.next()) {
      if (cursor.isNamed(encoded)) return { type: cursor.type, value: cursor.value } as TypedValue;
    }
    return undefined;
  }
}

export function entityRecord(etag: Ticks, properties: readonly Property[]): EntityRecord {
  return new EntityRecord(encodeEntity(etag, properties));
}

/** Cache of encoded names: a filter reads the same properties of every row. */
const cachedNamesMax = 4096;
const encodedNames = new Map<string, Uint8Array>();

function encodedName(name: string): Uint8Array {
  const cached = encodedNames.get(name);
  if (cached !== undefined) return cached;
  if (encodedNames.size >= cachedNamesMax) encodedNames.clear();
  const encoded = new Uint8Array(Buffer.from(name, "utf8"));
  encodedNames.set(name, encoded);
  return encoded;
}

interface EntityVersion1 {
  readonly etag: Ticks;
  readonly properties: readonly Property[];
}

const version1Codec = recordCodec<EntityVersion1>({ version: 1 });

export const entityCodec: RecordCodec<EntityRecord> = {
  encode: ({ bytes }) => bytes,
  decode(bytes) {
    const version = bytes[0] ?? 0;
    if (version === entityVersion) return new EntityRecord(bytes);
    if (version > entityVersion) {
      const supported = `supported is up to ${entityVersion}`;
      throw new RecordTooNew(`an entity has version ${version}, ${supported}`);
    }
    const { etag, properties } = version1Codec.decode(bytes);
    return entityRecord(etag, properties);
  },
};

/** Initial size of the buffer that all calls share; it grows for larger entities. */
const bufferBytesMin = 64 * 1024;
/** Most bytes of a UTF-16 code unit, encoded in UTF-8 or UTF-16. */
const bytesPerUnitMax = 3;
/** Most bytes of a property besides its name and the text or bytes of its value. */
const fixedPropertyBytesMax = 16;

let buffer = Buffer.alloc(bufferBytesMin);
let position = 0;
/** The ETag at the start of the buffer: all entities of a transaction have the same. */
let bufferedETag: Ticks | undefined;

/** Encodes an entity in the format of `entity-format.ts`. */
function encodeEntity(etag: Ticks, properties: readonly Property[]): Uint8Array {
  if (etag !== bufferedETag) {
    buffer[0] = entityVersion;
    buffer.writeBigUInt64LE(etag, 1);
    bufferedETag = etag;
  }
  position = headBytes;
  for (const [name, type, value] of properties) writeProperty(name, type, value);
  const bytes = copyBytes(buffer, 0, position);
  // An entity of 1 MiB is rare: free the memory.
  if (buffer.length > bufferBytesMin) {
    buffer = Buffer.alloc(bufferBytesMin);
    bufferedETag = undefined;
  }
  return bytes;
}

function writeProperty(name: string, type: EdmType, value: EdmValue): void {
  ensureSpace(name.length * bytesPerUnitMax + fixedPropertyBytesMax);
  const start = position;
  buffer[start] = type;
  position = start + 3;
  writeText(name);
  const nameBytes = position - start - 3;
  buffer[start + 1] = nameBytes & 0xff;
  buffer[start + 2] = nameBytes >> 8;
  switch (type) {
    case edm.string:
    case edm.guid: {
      const flags = writeSizedText(value as string);
      // `buffer` may have been replaced while writing.
      buffer[start] = type | flags;
      return;
    }
    case edm.binary:
      writeSizedBytes(value as Uint8Array);
      return;
    case edm.boolean:
      buffer[position++] = value === true ? 1 : 0;
      return;
    case edm.int32:
      position = buffer.writeInt32LE(value as number, position);
      return;
    case edm.double:
      position = buffer.writeDoubleLE(value as number, position);
      return;
    case edm.int64:
    case edm.dateTime:
      position = buffer.writeBigInt64LE(value as bigint, position);
      return;
  }
}

/** Writes length and text; returns the flags of the text. */
function writeSizedText(text: string): number {
  ensureSpace(text.length * bytesPerUnitMax + fixedPropertyBytesMax);
  const start = position;
  position += 4;
  const flags = writeText(text);
  buffer.writeUInt32LE(position - start - 4, start);
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
    buffer[position + index] = unit;
  }
  position += length;
  return flags;
}

/** Uses UTF-16 for a text with a surrogate without its pair: UTF-8 cannot encode one. */
function writeWideText(text: string): number {
  if (surrogate.test(text)) {
    position += buffer.write(text, position, "utf16le");
    return isWide;
  }
  position += buffer.write(text, position, "utf8");
  return escaped.test(text) ? 0 : isPlain;
}

function writeSizedBytes(bytes: Uint8Array): void {
  ensureSpace(bytes.length + fixedPropertyBytesMax);
  position = buffer.writeUInt32LE(bytes.length, position);
  buffer.set(bytes, position);
  position += bytes.length;
}

function ensureSpace(bytes: number): void {
  if (position + bytes <= buffer.length) return;
  const larger = Buffer.alloc(Math.max(position + bytes, 2 * buffer.length));
  larger.set(buffer.subarray(0, position));
  buffer = larger;
}
