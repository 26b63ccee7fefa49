import { recordCodec, RecordTooNew, type RecordCodec } from "../../encoding/record.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Property, Typed } from "../edm/edm.ts";
import { encodeEntity } from "./encode-entity.ts";
import { entityVersion } from "./form.ts";
import { PropertyCursor, readInt64 } from "./property-cursor.ts";

const cursor = new PropertyCursor();

/** An entity as it is stored. Nothing is decoded before someone asks. */
export class EntityRecord {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** The moment of the last change: the Timestamp, and the ETag. */
  get etag(): Ticks {
    return readInt64(this.bytes, 1);
  }

  get properties(): readonly Property[] {
    const properties: Property[] = [];
    cursor.start(this.bytes);
    while (cursor.next()) properties.push([cursor.name, cursor.type, cursor.value]);
    return properties;
  }

  find(name: string): Typed | undefined {
    const wanted = encodedName(name);
    cursor.start(this.bytes);
    while (cursor.next()) {
      if (cursor.isNamed(wanted)) return { type: cursor.type, value: cursor.value } as Typed;
    }
    return undefined;
  }
}

export function entityRecord(etag: Ticks, properties: readonly Property[]): EntityRecord {
  return new EntityRecord(encodeEntity(etag, properties));
}

/** Filters ask for the same few names in every row. */
const cachedNamesMax = 4096;
const encodedNames = new Map<string, Uint8Array>();

function encodedName(name: string): Uint8Array {
  const known = encodedNames.get(name);
  if (known !== undefined) return known;
  if (encodedNames.size >= cachedNamesMax) encodedNames.clear();
  const encoded = new Uint8Array(Buffer.from(name, "utf8"));
  encodedNames.set(name, encoded);
  return encoded;
}

interface FirstForm {
  readonly etag: Ticks;
  readonly properties: readonly Property[];
}

const firstForm = recordCodec<FirstForm>({ version: 1 });

export const entityCodec: RecordCodec<EntityRecord> = {
  encode: ({ bytes }) => bytes,
  decode(bytes) {
    const version = bytes[0] ?? 0;
    if (version === entityVersion) return new EntityRecord(bytes);
    if (version > entityVersion) {
      const known = `known is up to ${entityVersion}`;
      throw new RecordTooNew(`an entity has version ${version}, ${known}`);
    }
    const { etag, properties } = firstForm.decode(bytes);
    return entityRecord(etag, properties);
  },
};
