/** What a FlatBuffer is made of: tables whose fields are numbers or lead to something further on.
 *  flatbuffers.dev/internals */
export type FlatField =
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number | bigint }
  | { readonly to: FlatNode };

export type FlatNode = FlatTable | FlatText | FlatTables | FlatStructs;

/** Fields by their slot; an undefined one has its default. */
export interface FlatTable {
  readonly kind: "table";
  readonly fields: readonly (FlatField | undefined)[];
}

export interface FlatText {
  readonly kind: "text";
  readonly text: string;
}

export interface FlatTables {
  readonly kind: "tables";
  readonly items: readonly FlatTable[];
}

/** Structs of 64-bit numbers, one after the other. */
export interface FlatStructs {
  readonly kind: "structs";
  readonly items: readonly (readonly number[])[];
}

const firstBytes = 1024;
/** The strictest alignment there is, so that nothing has to know what a table holds. */
const tableAlignment = 8;
const referenceBytes = 4;

/** Each thing comes after the one that refers to it, so that references, which only lead forward,
 *  are filled in when their target has found its place. */
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

/** Before the table lies its index: its own size, that of the table, and where each slot is. */
function writeTable(output: Output, { fields }: FlatTable): number {
  const { places, size } = layOut(fields);
  const indexBytes = 4 + 2 * fields.length;
  const index = output.reserve(indexBytes, 2);
  const table = output.reserve(size, tableAlignment);
  output.put(index, 2, indexBytes);
  output.put(index + 2, 2, size);
  output.put(table, 4, table - index);
  for (const [slot, field] of fields.entries()) {
    const place = places[slot];
    if (field === undefined || place === undefined) continue;
    output.put(index + 4 + 2 * slot, 2, place);
    if ("to" in field) output.refer(table + place, writeNode(output, field.to));
    else output.put(table + place, field.bytes, field.value);
  }
  return table;
}

function layOut(fields: FlatTable["fields"]) {
  let size = referenceBytes;
  const places = fields.map((field) => {
    if (field === undefined) return undefined;
    const bytes = "to" in field ? referenceBytes : field.bytes;
    const place = aligned(size, bytes);
    size = place + bytes;
    return place;
  });
  return { places, size };
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

/** The count is put right before the first struct, which is aligned. */
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

  /** The place of so many zeros. */
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
