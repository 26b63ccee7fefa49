import { spend, unitsPerTurnMax } from "../../base/loop-share.ts";
import { encodeColumn, type ColumnBytes, type Columns, type Row } from "./columns.ts";
import { writeFlatBuffer, type FlatTable } from "./flatbuffer.ts";
import { batchMessage, schemaMessage, type SchemaColumn } from "./schema.ts";

export const arrowStreamType = "application/vnd.apache.arrow.stream";

export interface ArrowTable<C extends Columns> {
  readonly columns: C;
  /** Columns that every row fills, and that are there even without rows. */
  readonly required: readonly (keyof C)[];
  readonly rows: readonly Row<C>[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Fewer are encoded without a break. */
const rowsAtOnceMax = 256;
const alignment = 8;
const continuation = [0xff, 0xff, 0xff, 0xff] as const;
const endOfArrowStream = new Uint8Array([...continuation, 0, 0, 0, 0]);

/** A stream of one record batch. Columns that no row fills are left out: they cost readers time,
 *  and some readers refuse columns that are younger than they are. */
export async function writeArrowStream<C extends Columns>(
  table: ArrowTable<C>,
): Promise<Uint8Array> {
  const { rows, metadata } = table;
  const present: SchemaColumn[] = [];
  const encoded: ColumnBytes[] = [];
  for (const [name, kind] of Object.entries(table.columns)) {
    const cells = rows.map((row) => row[name]);
    const nullable = !table.required.includes(name);
    if (nullable && cells.every((cell) => cell === undefined)) continue;
    present.push({ name, kind, nullable });
    encoded.push(encodeColumn(kind, cells));
    // A column of metadata may have 40 MB: the event loop gets its share after each column.
    if (rows.length >= rowsAtOnceMax) await spend(unitsPerTurnMax);
  }
  const schema = arrowSchema(present, metadata);
  return Buffer.concat([schema, arrowBatch(rows.length, encoded), endOfArrowStream]);
}

/** What a stream begins with. */
export function arrowSchema(
  columns: readonly SchemaColumn[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  return frame(schemaMessage(columns, metadata));
}

/** Any number of these may follow. */
export function arrowBatch(rows: number, columns: readonly ColumnBytes[]): Uint8Array {
  const buffers: (readonly [offset: number, length: number])[] = [];
  const body: Uint8Array[] = [];
  let bodyBytes = 0;
  for (const bytes of columns.flatMap((column) => column.buffers)) {
    buffers.push([bodyBytes, bytes.length]);
    const padding = new Uint8Array(-bytes.length & (alignment - 1));
    body.push(bytes, padding);
    bodyBytes += bytes.length + padding.length;
  }
  const nodes = columns.flatMap((column) => column.nodes);
  return Buffer.concat([frame(batchMessage({ rows, nodes, buffers, bodyBytes })), ...body]);
}

/** The mark and the length before it keep the alignment that the buffer itself has. */
function frame(message: FlatTable): Uint8Array {
  const bytes = writeFlatBuffer(message);
  const framed = new Uint8Array(alignment + bytes.length);
  framed.set(continuation);
  new DataView(framed.buffer).setUint32(continuation.length, bytes.length, true);
  framed.set(bytes, alignment);
  return framed;
}
