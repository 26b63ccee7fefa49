/** Writes FlatBuffers, the binary format of the Arrow messages that describe schemas and batches.
 *  `schema.ts` builds the tables, `stream.ts` writes them. */

/** A field of a FlatBuffer table: a number, or a reference to another part of the buffer, which is
 *  written after the table. flatbuffers.dev/internals */
export type FlatField =
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number | bigint }
  | { readonly to: FlatNode };

type FlatNode = FlatTable | FlatText | FlatTables | FlatStructs;

/** A table: fields by slot. An undefined field has the default of the schema. */
export interface FlatTable {
  readonly kind: "table";
  readonly fields: readonly (FlatField | undefined)[];
}

interface FlatText {
  readonly kind: "text";
  readonly text: string;
}

interface FlatTables {
  readonly kind: "tables";
  readonly items: readonly FlatTable[];
}

/** Structs of 64-bit numbers, one after the other. */
interface FlatStructs {
  readonly kind: "structs";
  readonly items: readonly (readonly number[])[];
}

const firstBytes = 1024;
/** The largest alignment of any field: with it every field of a table is aligned. */
const tableAlignment = 8;
const referenceBytes = 4;

/** Writes each part after the part that refers to it. References therefore point forward; they are
 *  filled in once the offset of their target is known. */
export function writeFlatBuffer(root: FlatTable): Uint8Array {
  const output = new Output();
  const reference = output.reserve(referenceBytes, referenceBytes);
  output.refer(reference, writeTable(output, root));
  output.reserve(0, tableAlignment);
  return output.bytes();
}

function writeNode(output: Output, node: FlatNode): number {
  switch (node.kind) {
    case "table":
      return writeTable(output, node);
    case "text":
      return writeText(output, node.text);
    case "tables":
      return writeTables(output, node.items);
    case "structs":
      return writeStructs(output, node.items);
    default:
      return node satisfies never;
  }
}

/** Writes a table after its vtable, which contains its own size, the size of the table, and the
 *  offset of each slot. */
function writeTable(output: Output, { fields }: FlatTable): number {
  const { offsets, size } = layoutOf(fields);
  const vtableBytes = 4 + 2 * fields.length;
  const vtable = output.reserve(vtableBytes, 2);
  const table = output.reserve(size, tableAlignment);
  output.put(vtable, 2, vtableBytes);
  output.put(vtable + 2, 2, size);
  output.put(table, 4, table - vtable);
  for (const [slot, field] of fields.entries()) {
    const offset = offsets[slot];
    if (field === undefined || offset === undefined) continue;
    output.put(vtable + 4 + 2 * slot, 2, offset);
    if ("to" in field) output.refer(table + offset, writeNode(output, field.to));
    else output.put(table + offset, field.bytes, field.value);
  }
  return table;
}

function layoutOf(fields: FlatTable["fields"]) {
  let size = referenceBytes;
  const offsets = fields.map((field) => {
    if (field === undefined) return undefined;
    const bytes = "to" in field ? referenceBytes : field.bytes;
    const offset = aligned(size, bytes);
    size = offset + bytes;
    return offset;
  });
  return { offsets, size };
}

function writeText(output: Output, text: string): number {
  const bytes = new TextEncoder().encode(text);
  const at = output.reserve(4 + bytes.length + 1, 4);
  output.put(at, 4, bytes.length);
  output.copy(at + 4, bytes);
  return at;
}

function writeTables(output: Output, items: readonly FlatTable[]): number {
  const at = output.reserve(4 + referenceBytes * items.length, 4);
  output.put(at, 4, items.length);
  for (const [index, item] of items.entries()) {
    output.refer(at + 4 + referenceBytes * index, writeTable(output, item));
  }
  return at;
}

/** The number of structs directly precedes the first struct, which is aligned. */
function writeStructs(output: Output, items: FlatStructs["items"]): number {
  const numbers = items.flat();
  output.reserve(4, 4);
  const first = output.reserve(8 * numbers.length, tableAlignment);
  output.put(first - 4, 4, items.length);
  for (const [index, value] of numbers.entries()) output.put(first + 8 * index, 8, value);
  return first - 4;
}

function aligned(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

class Output {
  #buffer = new Uint8Array(firstBytes);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  /** Reserves bytes, which are zero until they are written, at the next aligned offset. Returns the
   *  offset. */
  reserve(bytes: number, alignment: number): number {
    const at = aligned(this.#length, alignment);
    this.#length = at + bytes;
    if (this.#length > this.#buffer.length) this.#grow();
    return at;
  }

  put(at: number, bytes: 1 | 2 | 4 | 8, value: number | bigint): void {
    if (bytes === 8) this.#view.setBigInt64(at, BigInt(value), true);
    else if (bytes === 4) this.#view.setUint32(at, Number(value), true);
    else if (bytes === 2) this.#view.setUint16(at, Number(value), true);
    else this.#view.setUint8(at, Number(value));
  }

  copy(at: number, bytes: Uint8Array): void {
    this.#buffer.set(bytes, at);
  }

  refer(from: number, to: number): void {
    this.put(from, 4, to - from);
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#length, 2 * this.#buffer.length));
    larger.set(this.#buffer);
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}
