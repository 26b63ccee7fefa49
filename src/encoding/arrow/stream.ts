import { unitsPerIterationMax, type LoopShare } from "../../base/loop-share.ts";
import { encodeColumn, type ColumnBytes, type Columns, type Row } from "./columns.ts";
import { writeFlatBuffer, type FlatTable } from "./flatbuffer.ts";
import { batchMessage, schemaMessage, type SchemaColumn } from "./schema.ts";

/** Writes Arrow IPC streams: List Blobs returns one to clients that accept the type, and Query Blob
 *  Contents can return one. A schema message is followed by record batches. */

export const arrowStreamType = "application/vnd.apache.arrow.stream";

/** The input of `writeArrowStream`: rows with columns by name, and metadata of the schema. */
interface ArrowTable<C extends Columns> {
  readonly columns: C;
  /** Names of the columns without nulls, which are present even if there are no rows. */
  readonly required: readonly (keyof C)[];
  readonly rows: readonly Row<C>[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** A table with fewer rows is encoded without yielding to the event loop. */
const rowsAtOnceMax = 256;
const alignment = 8;
const continuation = [0xff, 0xff, 0xff, 0xff] as const;
const endOfArrowStream = new Uint8Array([...continuation, 0, 0, 0, 0]);

/** Writes a stream with one record batch. Columns without values are omitted: reading them takes
 *  time, and some readers reject columns that they do not know. */
export async function writeArrowStream<C extends Columns>(
  loop: LoopShare,
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
    // A column of metadata may have 40 MB: yield to the event loop after each column.
    if (rows.length >= rowsAtOnceMax) await loop.spend(unitsPerIterationMax);
  }
  const schema = arrowSchema(present, metadata);
  return Buffer.concat([schema, arrowBatch(rows.length, encoded), endOfArrowStream]);
}

/** The schema message, first in a stream. */
export function arrowSchema(
  columns: readonly SchemaColumn[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  return frame(schemaMessage(columns, metadata));
}

/** A record batch message; any number of them may follow the schema. */
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

/** Prepends to a message its continuation marker and length, as the format of streams requires: 8
 *  bytes, which keeps the alignment. */
function frame(message: FlatTable): Uint8Array {
  const bytes = writeFlatBuffer(message);
  const framed = new Uint8Array(alignment + bytes.length);
  framed.set(continuation);
  new DataView(framed.buffer).setUint32(continuation.length, bytes.length, true);
  framed.set(bytes, alignment);
  return framed;
}
