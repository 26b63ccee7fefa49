/** Encodes the columns of an Arrow record batch: a list of cells becomes a validity bitmap and
 *  buffers. `stream.ts` puts them into a stream. */

/** The type of a cell by kind of column. Times are numbers since 1970-01-01. A decimal is the
 *  number that its digits form without the decimal point. */
interface CellKinds {
  readonly text: string;
  readonly boolean: boolean;
  readonly uint64: number | bigint;
  readonly int64: number | bigint;
  readonly double: number;
  readonly decimal: bigint;
  readonly seconds: bigint;
  readonly milliseconds: bigint;
  readonly map: Iterable<readonly [key: string, value: string]>;
}

export type ColumnKind = keyof CellKinds;

/** Columns by name, in the order of the stream. */
export type Columns = Readonly<Record<string, ColumnKind>>;

/** The type of a row: a cell for each column by name. An undefined cell is null. */
export type Row<C extends Columns> = {
  readonly [N in keyof C]?: CellKinds[C[N]] | undefined;
};

/** An encoded column of a record batch. `nodes`: length and null count of the column and, for a
 *  map, of its nested columns; `buffers`: their bytes.
 *  arrow.apache.org/docs/format/Columnar.html */
export interface ColumnBytes {
  readonly nodes: readonly (readonly [length: number, nulls: number])[];
  readonly buffers: readonly Uint8Array[];
}

type Cells<K extends ColumnKind> = readonly (CellKinds[K] | undefined)[];

/** Encodes a column: validity bitmap, then values. */
export function encodeColumn(kind: ColumnKind, cells: readonly unknown[]): ColumnBytes {
  const { nodes, buffers } = encodeKind(kind, cells);
  const own = [cells.length, cells.length - countPresent(cells)] as const;
  return { nodes: [own, ...nodes], buffers: [validityOf(cells), ...buffers] };
}

/** Encodes the values of a column, but not the validity bitmap. */
function encodeKind(kind: ColumnKind, cells: readonly unknown[]): ColumnBytes {
  switch (kind) {
    case "text":
      return { nodes: [], buffers: encodeTexts(cells as Cells<"text">) };
    case "boolean":
      return { nodes: [], buffers: [bitsOf(cells, (cell) => cell === true)] };
    case "uint64":
    case "int64":
    case "seconds":
    case "milliseconds":
      return { nodes: [], buffers: [encodeNumbers(cells as Cells<"int64">)] };
    case "double":
      return { nodes: [], buffers: [encodeDoubles(cells as Cells<"double">)] };
    case "decimal":
      return { nodes: [], buffers: [encodeDecimals(cells as Cells<"decimal">)] };
    case "map":
      return encodeMaps(cells as Cells<"map">);
    default:
      return kind satisfies never;
  }
}

function countPresent(cells: readonly unknown[]): number {
  let present = 0;
  for (const cell of cells) if (cell !== undefined) present += 1;
  return present;
}

/** The validity bitmap: a bit for each cell that is not null; empty for a column without nulls. */
function validityOf(cells: readonly unknown[]): Uint8Array {
  if (countPresent(cells) === cells.length) return new Uint8Array(0);
  return bitsOf(cells, (cell) => cell !== undefined);
}

function bitsOf(cells: readonly unknown[], isSet: (cell: unknown) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  for (const [index, cell] of cells.entries()) {
    if (isSet(cell)) bits[index >> 3]! |= 1 << (index & 7);
  }
  return bits;
}

/** Encodes integers in 64 bits; signed and unsigned ones have the same bits. */
function encodeNumbers(cells: readonly (number | bigint | undefined)[]): Uint8Array {
  const bytes = new Uint8Array(8 * cells.length);
  const view = new DataView(bytes.buffer);
  for (const [index, cell] of cells.entries()) {
    if (cell !== undefined) view.setBigInt64(8 * index, BigInt(cell), true);
  }
  return bytes;
}

function encodeDoubles(cells: Cells<"double">): Uint8Array {
  const bytes = new Uint8Array(8 * cells.length);
  const view = new DataView(bytes.buffer);
  for (const [index, cell] of cells.entries()) view.setFloat64(8 * index, cell ?? 0, true);
  return bytes;
}

/** Encodes decimals in 128 bits, the lower half first. */
function encodeDecimals(cells: Cells<"decimal">): Uint8Array {
  const bytes = new Uint8Array(16 * cells.length);
  const view = new DataView(bytes.buffer);
  for (const [index, cell = 0n] of cells.entries()) {
    view.setBigInt64(16 * index, BigInt.asIntN(64, cell), true);
    view.setBigInt64(16 * index + 8, cell >> 64n, true);
  }
  return bytes;
}

function encodeTexts(cells: Cells<"text">): readonly Uint8Array[] {
  const offsets = new Offsets(cells.length);
  for (const cell of cells) offsets.add(cell === undefined ? 0 : Buffer.byteLength(cell));
  const data = Buffer.allocUnsafe(offsets.end);
  let at = 0;
  for (const cell of cells) at += cell === undefined ? 0 : data.write(cell, at, "utf8");
  return [offsets.bytes, data];
}

/** Encodes a column of maps, which are lists of pairs: those of all cells share two columns. */
function encodeMaps(cells: Cells<"map">): ColumnBytes {
  const offsets = new Offsets(cells.length);
  const keys: string[] = [];
  const values: string[] = [];
  for (const cell of cells) {
    const before = keys.length;
    for (const [key, value] of cell ?? []) {
      keys.push(key);
      values.push(value);
    }
    offsets.add(keys.length - before);
  }
  const pairs = [encodeColumn("text", keys), encodeColumn("text", values)];
  const noNulls = new Uint8Array(0);
  return {
    nodes: [[keys.length, 0], ...pairs.flatMap(({ nodes }) => nodes)],
    buffers: [offsets.bytes, noNulls, ...pairs.flatMap(({ buffers }) => buffers)],
  };
}

/** The offsets buffer: the start of each cell, and the end of the last one. */
class Offsets {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #count = 0;
  #end = 0;

  constructor(cells: number) {
    this.bytes = new Uint8Array(4 * (cells + 1));
    this.#view = new DataView(this.bytes.buffer);
  }

  get end(): number {
    return this.#end;
  }

  add(length: number): void {
    this.#count += 1;
    this.#end += length;
    this.#view.setInt32(4 * this.#count, this.#end, true);
  }
}
