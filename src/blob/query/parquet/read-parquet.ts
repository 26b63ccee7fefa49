import { FatalQueryError, type FieldValue, type InputRecord } from "../records.ts";
import { ParquetError } from "./page-values.ts";
import { ColumnCursor, type RangeFile } from "./column-cursor.ts";
import { readMetadata, type Column, type ParquetMetadata, type RowGroup } from "./metadata.ts";

/** Reads Parquet files for Query Blob Contents: only the columns that a query names, by ranges of
 *  the blob, so that a query needs memory for a page of each column, not for the file. */

/** Longest metadata of a Parquet file that this server parses: it is parsed at once, without pause
 *  for other requests. */
const metadataBytesMax = 2 * 1024 * 1024;
/** Most bytes of pages and dictionaries that one query holds in memory: it needs one page of each
 *  column at a time. Beyond it the query fails. */
const heldBytesMax = 64 * 1024 * 1024;

/** Reads the rows of a Parquet file as records, with only the columns of these names; undefined:
 *  all columns. parquet.apache.org/docs/file-format/ */
export async function* readParquet(
  file: RangeFile,
  names: ReadonlySet<string> | undefined,
): AsyncGenerator<InputRecord, void, undefined> {
  try {
    const metadata = readMetadata(await readFooter(file));
    const columns = columnsFor(metadata, names);
    const indexes = new Map(columns.map(({ name }, index) => [name.toLowerCase(), index]));
    let offset = 0;
    for (const group of metadata.rowGroups) {
      for await (const values of readRows(file, columns, group)) {
        yield {
          offset,
          lookup: ([name]) => values[indexes.get(String(name).toLowerCase()) ?? -1] ?? null,
          all: () => columns.map(({ name }, at) => ({ name, value: values[at] ?? null })),
        };
      }
      offset = Math.max(offset, ...Array.from(group.chunks.values(), ({ to }) => to));
    }
  } catch (error) {
    if (!(error instanceof ParquetError)) throw error;
    throw new FatalQueryError("ParseError", `Parquet: ${error.message}.`, 0);
  }
}

const tailBytes = 8;
const magic = "PAR1";

/** Reads the bytes of the metadata, which is at the end of the file, before its length and the four
 *  letters `PAR1`. */
async function readFooter(file: RangeFile): Promise<Uint8Array> {
  if (file.length < tailBytes + magic.length) throw new ParquetError("the file is too short");
  const tail = Buffer.from(await file.read(file.length - tailBytes, tailBytes));
  const end = tail.toString("latin1", 4);
  if (end === "PARE") throw new ParquetError("the file is encrypted");
  if (end !== magic) throw new ParquetError("this is not a Parquet file");
  const length = tail.readUInt32LE(0);
  if (length > metadataBytesMax) {
    throw new ParquetError(`the metadata has over ${metadataBytesMax} bytes`);
  }
  const from = file.length - tailBytes - length;
  if (from < 0) throw new ParquetError("the metadata is truncated");
  return file.read(from, length);
}

/** The columns that a query needs. At least one, because a query without columns (`COUNT(*)`)
 *  counts the rows. */
function columnsFor(
  { columns, nested }: ParquetMetadata,
  names: ReadonlySet<string> | undefined,
): readonly Column[] {
  const isNamed = (name: string) => names === undefined || names.has(name.toLowerCase());
  const unreadable = nested.find(isNamed);
  if (unreadable !== undefined) {
    throw new ParquetError(
      `column ${unreadable} has lists or structures, which this server cannot read`,
    );
  }
  for (const name of names ?? []) {
    if (columns.some((column) => column.name.toLowerCase() === name)) continue;
    throw new FatalQueryError("InvalidColumnName", `There is no column '${name}'.`, 0);
  }
  const chosen = columns.filter(({ name }) => isNamed(name));
  return chosen.length > 0 ? chosen : columns.slice(0, 1);
}

async function* readRows(
  file: RangeFile,
  columns: readonly Column[],
  { rowCount, chunks }: RowGroup,
): AsyncGenerator<readonly FieldValue[], void, undefined> {
  const cursors = columns.map((column) => {
    const chunk = chunks.get(column.name);
    if (chunk === undefined) throw new ParquetError(`column ${column.name} is missing`);
    return new ColumnCursor(file, column, chunk);
  });
  for (let left = cursors.length === 0 ? 0 : rowCount; left > 0;) {
    let ready = left;
    for (const cursor of cursors) {
      if (cursor.ready === 0) {
        await cursor.fill();
        checkHeldBytes(cursors);
      }
      ready = Math.min(ready, cursor.ready);
    }
    for (let count = 0; count < ready; count += 1) yield cursors.map((cursor) => cursor.next());
    left -= ready;
  }
}

function checkHeldBytes(cursors: readonly ColumnCursor[]): void {
  const held = cursors.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  if (held <= heldBytesMax) return;
  throw new ParquetError(
    `the pages of the columns have over ${heldBytesMax} bytes: select fewer columns`,
  );
}
