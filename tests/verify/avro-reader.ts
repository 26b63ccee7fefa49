/** Reads container files of Avro, by the schema that they contain. */

type Schema =
  | string
  | readonly Schema[]
  | { readonly type: "record"; readonly name: string; readonly fields: readonly Field[] }
  | { readonly type: "enum"; readonly symbols: readonly string[] }
  | { readonly type: "map"; readonly values: Schema }
  | { readonly type: string };

interface Field {
  readonly name: string;
  readonly type: Schema;
}

const markerBytes = 16;

class Incomplete extends Error {}

class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    this.at += length;
    if (this.at > this.#bytes.length) throw new Incomplete();
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** Throws `Incomplete` if fewer bytes follow. */
  skim(length: number): void {
    if (this.at + length > this.#bytes.length) throw new Incomplete();
  }

  from(at: number): Buffer {
    return this.#bytes.subarray(at);
  }

  long(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte = 0] = this.take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return Number((value >> 1n) ^ -(value & 1n));
  }

  text(): string {
    return this.take(this.long()).toString();
  }

  map(read: () => unknown): Readonly<Record<string, unknown>> {
    const entries: [string, unknown][] = [];
    for (let count = this.long(); count !== 0; count = this.long()) {
      if (count < 0) this.long();
      for (let left = Math.abs(count); left > 0; left -= 1) entries.push([this.text(), read()]);
    }
    return Object.fromEntries(entries);
  }

  value(schema: Schema): unknown {
    if (Array.isArray(schema)) return this.value((schema as readonly Schema[])[this.long()]!);
    const type = typeof schema === "string" ? schema : (schema as { readonly type: string }).type;
    switch (type) {
      case "null":
        return undefined;
      case "string":
        return this.text();
      case "int":
      case "long":
        return this.long();
      case "enum":
        return (schema as { readonly symbols: readonly string[] }).symbols[this.long()];
      case "map":
        return this.map(() => this.value((schema as { readonly values: Schema }).values));
      case "record": {
        const { fields } = schema as { readonly fields: readonly Field[] };
        return Object.fromEntries(fields.map(({ name, type: own }) => [name, this.value(own)]));
      }
      default:
        return this.value((schema as { readonly type: Schema }).type);
    }
  }
}

/** Decodes a file that arrives in parts. Only the part of an incomplete block is kept. */
export class AvroDecoder {
  #rest: Buffer = Buffer.alloc(0);
  #schema: Schema | undefined;
  #marker = Buffer.alloc(0);

  /** Yields the records of the blocks that are complete with these bytes. */
  *push(bytes: Buffer): Generator<Readonly<Record<string, unknown>>> {
    const reader = new Reader(Buffer.concat([this.#rest, bytes]));
    let done = 0;
    try {
      this.#schema ??= this.#readHeader(reader);
      done = reader.at;
      while (!reader.isAtEnd) {
        const count = reader.long();
        const size = reader.long();
        reader.skim(size + markerBytes);
        for (let left = count; left > 0; left -= 1) {
          yield reader.value(this.#schema) as Readonly<Record<string, unknown>>;
        }
        if (!reader.take(markerBytes).equals(this.#marker)) {
          throw new Error("a block has no marker");
        }
        done = reader.at;
      }
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
    }
    // A copy, so that the bytes of the complete blocks can be freed.
    this.#rest = Buffer.from(reader.from(done));
  }

  get isAtEnd(): boolean {
    return this.#rest.length === 0;
  }

  #readHeader(reader: Reader): Schema {
    if (reader.take(4).toString("latin1") !== "Obj\u0001") throw new Error("no Avro file");
    const header = reader.map(() => reader.text());
    const marker = Buffer.from(reader.take(markerBytes));
    this.#marker = marker;
    return JSON.parse(String(header["avro.schema"])) as Schema;
  }
}

/** Yields the records of a file, one after the other: a chunk of the feed has hundreds of
 *  thousands, whose objects take ten times the bytes of the file. */
export function* readAvro(bytes: Buffer): Generator<Readonly<Record<string, unknown>>> {
  const decoder = new AvroDecoder();
  yield* decoder.push(bytes);
  if (!decoder.isAtEnd) throw new Error("the file ends in a record");
}
