import { recordCodec, RecordTooNew, type RecordCodec } from "../../encoding/record.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Property, TypedValue } from "../edm/edm.ts";
import { encodeEntity } from "./encode-entity.ts";
import { entityVersion } from "./entity-format.ts";
import { PropertyCursor, readInt64 } from "./property-cursor.ts";

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
