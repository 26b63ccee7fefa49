import { memo, once } from "../../process/memo.ts";
import { recordCodec, RecordTooNew, type RecordCodec } from "../../encoding/record.ts";
import type { Ticks } from "../../base/ticks.ts";
import { edm, type EdmType, type EdmValue, type Property, type TypedValue } from "../edm/edm.ts";
import { entityVersion, headBytes, isPlain, isWide } from "./entity-format.ts";
import { readInt64, reusedCursor } from "./property-cursor.ts";
import { copyBytes } from "../../process/bytes.ts";

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
    const cursor = reusedCursor();
    cursor.start(this.bytes);
    while (cursor.next()) properties.push([cursor.name, cursor.type, cursor.value]);
    return properties;
  }

  /** Undefined if the entity has no such property. */
  find(name: string): TypedValue | undefined {
    const encoded = encodedName(name);
    const cursor = reusedCursor();
    cursor.start(this.bytes);
    while (cursor.next()) {
      if (cursor.isNamed(encoded)) return { type: cursor.type, value: cursor.value } as TypedValue;
    }
    return undefined;
  }
}

export function entityRecord(etag: Ticks, properties: readonly Property[]): EntityRecord {
  return new EntityRecord(reusedWriter().write(etag, properties));
}

/** A filter reads the same properties of every row. */
const encodedName = memo(4096, (name: string) => new Uint8Array(Buffer.from(name, "utf8")));

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

/** Initial size of the buffer of a writer; it grows for larger entities. */
const bufferBytesMin = 64 * 1024;
/** Most bytes of a UTF-16 code unit, encoded in UTF-8 or UTF-16. */
const bytesPerUnitMax = 3;
/** Most bytes of a property besides its name and the text or bytes of its value. */
const fixedPropertyBytesMax = 16;

// eslint-disable-next-line no-control-regex -- what JSON has to escape
const escaped = /["\\\u0000-\u001F]/;
const surrogate = /\p{Surrogate}/u;

/** Writes entities in the format of `entity-format.ts`. */
class EntityWriter {
  #buffer = Buffer.alloc(bufferBytesMin);
  #position = 0;
  /** The ETag at the start of the buffer: all entities of a transaction have the same. */
  #bufferedETag: Ticks | undefined;

  write(etag: Ticks, properties: readonly Property[]): Uint8Array {
    if (etag !== this.#bufferedETag) {
      this.#buffer[0] = entityVersion;
      this.#buffer.writeBigUInt64LE(etag, 1);
      this.#bufferedETag = etag;
    }
    this.#position = headBytes;
    for (const [name, type, value] of properties) this.#writeProperty(name, type, value);
    const bytes = copyBytes(this.#buffer, 0, this.#position);
    // An entity of 1 MiB is rare: free the memory.
    if (this.#buffer.length > bufferBytesMin) {
      this.#buffer = Buffer.alloc(bufferBytesMin);
      this.#bufferedETag = undefined;
    }
    return bytes;
  }

  #writeProperty(name: string, type: EdmType, value: EdmValue): void {
    this.#ensureSpace(name.length * bytesPerUnitMax + fixedPropertyBytesMax);
    const start = this.#position;
    this.#buffer[start] = type;
    this.#position = start + 3;
    this.#writeText(name);
    const nameBytes = this.#position - start - 3;
    this.#buffer[start + 1] = nameBytes & 0xff;
    this.#buffer[start + 2] = nameBytes >> 8;
    switch (type) {
      case edm.string:
      case edm.guid: {
        const flags = this.#writeSizedText(value as string);
        // The buffer may have been replaced while writing.
        this.#buffer[start] = type | flags;
        return;
      }
      case edm.binary:
        this.#writeSizedBytes(value as Uint8Array);
        return;
      case edm.boolean:
        this.#buffer[this.#position++] = value === true ? 1 : 0;
        return;
      case edm.int32:
        this.#position = this.#buffer.writeInt32LE(value as number, this.#position);
        return;
      case edm.double:
        this.#position = this.#buffer.writeDoubleLE(value as number, this.#position);
        return;
      case edm.int64:
      case edm.dateTime:
        this.#position = this.#buffer.writeBigInt64LE(value as bigint, this.#position);
        return;
    }
  }

  /** Writes length and text; returns the flags of the text. */
  #writeSizedText(text: string): number {
    this.#ensureSpace(text.length * bytesPerUnitMax + fixedPropertyBytesMax);
    const start = this.#position;
    this.#position += 4;
    const flags = this.#writeText(text);
    this.#buffer.writeUInt32LE(this.#position - start - 4, start);
    return flags;
  }

  #writeText(text: string): number {
    let flags = isPlain;
    const { length } = text;
    const buffer = this.#buffer;
    const position = this.#position;
    for (let index = 0; index < length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return this.#writeWideText(text);
      if (unit < 0x20 || unit === 0x22 || unit === 0x5c) flags = 0;
      buffer[position + index] = unit;
    }
    this.#position += length;
    return flags;
  }

  /** Uses UTF-16 for a text with a surrogate without its pair: UTF-8 cannot encode one. */
  #writeWideText(text: string): number {
    if (surrogate.test(text)) {
      this.#position += this.#buffer.write(text, this.#position, "utf16le");
      return isWide;
    }
    this.#position += this.#buffer.write(text, this.#position, "utf8");
    return escaped.test(text) ? 0 : isPlain;
  }

  #writeSizedBytes(bytes: Uint8Array): void {
    this.#ensureSpace(bytes.length + fixedPropertyBytesMax);
    this.#position = this.#buffer.writeUInt32LE(bytes.length, this.#position);
    this.#buffer.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  #ensureSpace(bytes: number): void {
    if (this.#position + bytes <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.max(this.#position + bytes, 2 * this.#buffer.length));
    larger.set(this.#buffer.subarray(0, this.#position));
    this.#buffer = larger;
  }
}

const reusedWriter = once(() => new EntityWriter());
