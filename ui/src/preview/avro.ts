/** A schema of Avro: a name of a type, a union, or an object with the type. */
type Schema =
  | string
  | readonly Schema[]
  | { readonly type: Schema; readonly [name: string]: unknown };

export interface AvroContent {
  readonly schema: unknown;
  readonly rows: readonly unknown[];
  /** Whether the content has more rows than were read. */
  readonly isCut: boolean;
}

const magic = [0x4f, 0x62, 0x6a, 0x01];
const syncBytes = 16;
/** Items of one array or map, and depth of nested values: a damaged file must not stop the
 *  page. */
const itemsMax = 100_000;
const depthMax = 64;

/** The end of the bytes: a preview reads only the beginning of a file. */
class EndOfBytes extends Error {}

/** Reads values from bytes, as the specification of Avro encodes them. */
class Reader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Uint8Array<ArrayBuffer> {
    if (length < 0 || this.#at + length > this.#bytes.length) throw new EndOfBytes();
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  /** A number of up to 64 bits, in zigzag encoding. */
  long(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const [byte = 0] = this.take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return (value >> 1n) ^ -(value & 1n);
    }
    throw new Error("a number has more than ten bytes");
  }

  count(): number {
    return Number(this.long());
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.count()));
  }

  number(bytes: 4 | 8): number {
    const at = this.#at;
    this.take(bytes);
    return bytes === 4 ? this.#view.getFloat32(at, true) : this.#view.getFloat64(at, true);
  }
}

/** Reads the beginning of an object container file, up to a number of rows. */
export async function readAvro(
  bytes: Uint8Array<ArrayBuffer>,
  rowsMax: number,
): Promise<AvroContent> {
  const reader = new Reader(bytes);
  if (reader.take(magic.length).some((byte, index) => byte !== magic[index])) {
    throw new Error("this is no Avro file");
  }
  const metadata = readItems(reader, () => [reader.text(), reader.take(reader.count())] as const);
  const named = new Map(metadata.map(([name, value]) => [name, new TextDecoder().decode(value)]));
  const schema = JSON.parse(named.get("avro.schema") ?? "null") as Schema;
  const codec = named.get("avro.codec") ?? "null";
  reader.take(syncBytes);
  const rows: unknown[] = [];
  const values = new ValueReader(schema);
  try {
    while (!reader.isAtEnd && rows.length < rowsMax) {
      const count = reader.count();
      const block = new Reader(await unpacked(reader.take(reader.count()), codec));
      reader.take(syncBytes);
      for (let row = 0; row < count && rows.length < rowsMax; row += 1) {
        rows.push(values.read(block, schema, 0));
      }
    }
  } catch (error) {
    if (!(error instanceof EndOfBytes)) throw error;
    return { schema, rows, isCut: true };
  }
  return { schema, rows, isCut: !reader.isAtEnd };
}

async function unpacked(
  block: Uint8Array<ArrayBuffer>,
  codec: string,
): Promise<Uint8Array<ArrayBuffer>> {
  if (codec === "null") return block;
  if (codec !== "deflate") throw new Error(`blocks with the codec ${codec} are not shown`);
  const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The items of an array or map, which are in blocks; a negative count is followed by the size. */
function readItems<T>(reader: Reader, read: () => T): readonly T[] {
  const items: T[] = [];
  for (let count = reader.count(); count !== 0; count = reader.count()) {
    if (count < 0) reader.count();
    for (let left = Math.abs(count); left > 0; left -= 1) {
      if (items.length >= itemsMax) throw new Error(`more than ${itemsMax} items`);
      items.push(read());
    }
  }
  return items;
}

/** Reads values of a schema, in which types can be named and used again. */
class ValueReader {
  readonly #named = new Map<string, Schema>();

  constructor(schema: Schema) {
    this.#collect(schema, 0);
  }

  #collect(schema: Schema, depth: number): void {
    if (typeof schema === "string" || depth > depthMax) return;
    if (isUnion(schema)) return schema.forEach((each) => this.#collect(each, depth + 1));
    if (typeof schema["name"] === "string") this.#named.set(schema["name"], schema);
    for (const part of [schema["items"], schema["values"], schema.type]) {
      if (typeof part === "object") this.#collect(part as Schema, depth + 1);
    }
    for (const { type } of fieldsOf(schema)) this.#collect(type, depth + 1);
  }

  read(reader: Reader, schema: Schema, depth: number): unknown {
    if (depth > depthMax) throw new Error(`values are nested more than ${depthMax} times`);
    if (typeof schema === "string") return this.#readNamed(reader, schema, depth);
    if (isUnion(schema)) {
      const chosen = schema[reader.count()];
      if (chosen === undefined) throw new Error("a union has no such branch");
      return this.read(reader, chosen, depth + 1);
    }
    const next = (of: unknown): unknown => this.read(reader, of as Schema, depth + 1);
    switch (schema.type) {
      case "record":
        return Object.fromEntries(fieldsOf(schema).map(({ name, type }) => [name, next(type)]));
      case "enum":
        return (schema["symbols"] as readonly string[])[reader.count()];
      case "array":
        return readItems(reader, () => next(schema["items"]));
      case "map":
        return Object.fromEntries(readItems(reader, () => [reader.text(), next(schema["values"])]));
      case "fixed":
        return hexOf(reader.take(Number(schema["size"])));
      default:
        return next(schema.type);
    }
  }

  #readNamed(reader: Reader, name: string, depth: number): unknown {
    switch (name) {
      case "null":
        return null;
      case "boolean":
        return reader.take(1)[0] === 1;
      case "int":
      case "long":
        return numberOf(reader.long());
      case "float":
        return reader.number(4);
      case "double":
        return reader.number(8);
      case "string":
        return reader.text();
      case "bytes":
        return hexOf(reader.take(reader.count()));
      default: {
        const known = this.#named.get(name) ?? this.#named.get(name.split(".").at(-1) ?? "");
        if (known === undefined) throw new Error(`the type ${name} is not known`);
        return this.read(reader, known, depth + 1);
      }
    }
  }
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema);
}

function fieldsOf(schema: Readonly<Record<string, unknown>>) {
  const fields = schema["fields"] ?? [];
  return fields as readonly { readonly name: string; readonly type: Schema }[];
}

function numberOf(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
