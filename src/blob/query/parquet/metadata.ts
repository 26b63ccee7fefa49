import { ParquetBytes, ParquetError } from "./parquet-bytes.ts";
import { intOf, listOf, readStruct, structOf, structsOf, textOf } from "./thrift.ts";
import type { ThriftStruct } from "./thrift.ts";

/** Physical types in the order of their numbers.
 *  github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift */
const physicalTypes = [
  "boolean",
  "int32",
  "int64",
  "int96",
  "float",
  "double",
  "bytes",
  "fixed",
] as const;
type PhysicalType = (typeof physicalTypes)[number];

/** What the values of a column mean, where that does not follow from their physical type. */
type LogicalType =
  | { readonly kind: "text" | "date" | "uuid" | "float16" | "unsigned" }
  | { readonly kind: "decimal"; readonly scale: number }
  | { readonly kind: "timestamp"; readonly unitsPerSecond: bigint };

/** A column whose values are not in lists or structures. */
export interface Column {
  readonly name: string;
  readonly type: PhysicalType;
  /** Bytes of a value of the type `fixed`. */
  readonly typeLength: number;
  readonly isOptional: boolean;
  readonly logical: LogicalType | undefined;
}

/** The pages of a column in one row group. */
export interface ColumnChunk {
  readonly codec: number;
  readonly valueCount: number;
  /** Offsets in the file. */
  readonly from: number;
  readonly to: number;
}

export interface RowGroup {
  readonly rowCount: number;
  /** By the name of the column. */
  readonly chunks: ReadonlyMap<string, ColumnChunk>;
}

export interface ParquetMetadata {
  readonly columns: readonly Column[];
  /** Names of the columns with lists or structures. */
  readonly nested: readonly string[];
  readonly rowGroups: readonly RowGroup[];
}

const columnsMax = 16_384;
const rowGroupsMax = 65_536;

export function readMetadata(footer: Uint8Array): ParquetMetadata {
  const file = readStruct(new ParquetBytes(footer));
  const schema = structsOf(file, 2);
  const groups = structsOf(file, 4);
  if (schema.length === 0) throw new ParquetError("the file has no schema");
  if (schema.length > columnsMax) throw new ParquetError(`the file has over ${columnsMax} columns`);
  if (groups.length > rowGroupsMax) {
    throw new ParquetError(`the file has over ${rowGroupsMax} row groups`);
  }
  return { ...readColumns(schema), rowGroups: groups.map(readRowGroup) };
}

/** The schema is a tree in depth-first order; its first element is the root. */
function readColumns(schema: readonly ThriftStruct[]) {
  const columns: Column[] = [];
  const nested: string[] = [];
  const topCount = intOf(schema[0], 5) ?? 0;
  let at = 1;
  for (let count = 0; count < topCount; count += 1) {
    const element = schema[at];
    if (element === undefined) throw new ParquetError("the schema is truncated");
    const end = endOfElement(schema, at);
    const column = end === at + 1 ? columnOf(element) : undefined;
    if (column === undefined) nested.push(textOf(element.get(4)));
    else columns.push(column);
    at = end;
  }
  return { columns, nested };
}

/** The index after an element of the schema and everything below it. */
function endOfElement(schema: readonly ThriftStruct[], from: number): number {
  let open = 1;
  let at = from;
  while (open > 0 && at < schema.length) {
    open += (intOf(schema[at], 5) ?? 0) - 1;
    at += 1;
  }
  return at;
}

const repetitions = { optional: 1, repeated: 2 };

function columnOf(element: ThriftStruct): Column | undefined {
  const type = physicalTypes[intOf(element, 1) ?? -1];
  const repetition = intOf(element, 3) ?? 0;
  if (type === undefined || repetition === repetitions.repeated) return undefined;
  return {
    name: textOf(element.get(4)),
    type,
    typeLength: intOf(element, 2) ?? 0,
    isOptional: repetition === repetitions.optional,
    logical: logicalOf(structOf(element, 10)) ?? convertedOf(element),
  };
}

function logicalOf(union: ThriftStruct | undefined): LogicalType | undefined {
  if (union === undefined) return undefined;
  if ([1, 4, 12].some((id) => union.has(id))) return { kind: "text" };
  if (union.has(5)) return { kind: "decimal", scale: intOf(structOf(union, 5), 1) ?? 0 };
  if (union.has(6)) return { kind: "date" };
  if (union.has(8)) return timestampOf(structOf(structOf(union, 8), 2));
  if (union.has(10) && structOf(union, 10)?.get(2) === false) return { kind: "unsigned" };
  if (union.has(14)) return { kind: "uuid" };
  return union.has(15) ? { kind: "float16" } : undefined;
}

function timestampOf(unit: ThriftStruct | undefined): LogicalType {
  const unitsPerSecond = unit?.has(3) ? 1_000_000_000n : unit?.has(2) ? 1_000_000n : 1000n;
  return { kind: "timestamp", unitsPerSecond };
}

/** The older form of logical types. */
function convertedOf(element: ThriftStruct): LogicalType | undefined {
  switch (intOf(element, 6)) {
    case 0:
    case 4:
    case 19:
      return { kind: "text" };
    case 5:
      return { kind: "decimal", scale: intOf(element, 7) ?? 0 };
    case 6:
      return { kind: "date" };
    case 9:
      return { kind: "timestamp", unitsPerSecond: 1000n };
    case 10:
      return { kind: "timestamp", unitsPerSecond: 1_000_000n };
    case 11:
    case 12:
    case 13:
    case 14:
      return { kind: "unsigned" };
    default:
      return undefined;
  }
}

function readRowGroup(group: ThriftStruct): RowGroup {
  const chunks = new Map<string, ColumnChunk>();
  for (const chunk of structsOf(group, 1)) {
    const data = structOf(chunk, 3);
    const path = listOf(data, 3);
    if (data === undefined || path.length !== 1 || textOf(chunk.get(1)) !== "") continue;
    chunks.set(textOf(path[0]), chunkOf(data));
  }
  return { rowCount: intOf(group, 3) ?? 0, chunks };
}

function chunkOf(data: ThriftStruct): ColumnChunk {
  const dataFrom = intOf(data, 9) ?? -1;
  const dictionaryFrom = intOf(data, 11) ?? 0;
  // Some writers set 0 for "no dictionary page".
  const from = dictionaryFrom > 0 ? Math.min(dictionaryFrom, dataFrom) : dataFrom;
  return {
    codec: intOf(data, 4) ?? -1,
    valueCount: intOf(data, 5) ?? 0,
    from,
    to: from + (intOf(data, 7) ?? 0),
  };
}
