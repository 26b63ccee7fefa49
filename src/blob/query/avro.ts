/** The Avro object container of results: a header with the schema, then blocks of records, each
 *  followed by the sync marker. avro.apache.org/docs/1.11.1/specification */

const magic = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01);
const namespace = "com.microsoft.azure.storage.queryBlobContents";

const long = (name: string) => ({ name, type: "long" });
const text = (name: string) => ({ name, type: "string" });
const record = (name: string, ...fields: readonly object[]) => ({
  type: "record",
  name: `${namespace}.${name}`,
  fields,
});

const schema = JSON.stringify([
  record("resultData", { name: "data", type: "bytes" }),
  record(
    "error",
    { name: "fatal", type: "boolean" },
    text("name"),
    text("description"),
    long("position"),
  ),
  record("progress", long("bytesScanned"), long("totalBytes")),
  record("end", long("totalBytes")),
]);

export interface QueryError {
  readonly fatal: boolean;
  readonly name: string;
  readonly description: string;
  readonly position: number;
}

/** Writes one result stream. The sync marker may be any 16 bytes. */
export class AvroWriter {
  readonly #marker: Uint8Array;

  constructor(marker: Uint8Array) {
    this.#marker = marker;
  }

  header(): Uint8Array {
    const entry = [...textParts("avro.schema"), ...textParts(schema)];
    return Buffer.concat([magic, longOf(1), ...entry, longOf(0), this.#marker]);
  }

  data(bytes: Uint8Array): Uint8Array {
    return this.#block(0, [longOf(bytes.length), bytes]);
  }

  error({ fatal, name, description, position }: QueryError): Uint8Array {
    const flag = Uint8Array.of(fatal ? 1 : 0);
    return this.#block(1, [flag, ...textParts(name), ...textParts(description), longOf(position)]);
  }

  progress(bytesScanned: number, totalBytes: number): Uint8Array {
    return this.#block(2, [longOf(bytesScanned), longOf(totalBytes)]);
  }

  end(totalBytes: number): Uint8Array {
    return this.#block(3, [longOf(totalBytes)]);
  }

  /** Writes a block of one record; `branch` is the index of its type in the union of the schema. */
  #block(branch: number, parts: readonly Uint8Array[]): Uint8Array {
    const body = Buffer.concat([longOf(branch), ...parts]);
    return Buffer.concat([longOf(1), longOf(body.length), body, this.#marker]);
  }
}

function textParts(value: string): readonly Uint8Array[] {
  const bytes = new TextEncoder().encode(value);
  return [longOf(bytes.length), bytes];
}

/** Encodes a long: zigzag, 7 bits per byte, least significant first. */
export function longOf(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const bytes: number[] = [];
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
