import { ParquetError, ParquetBytes } from "./page-values.ts";

/** Reads the metadata of Parquet files, which is in Thrift's compact protocol: for
 *  `read-parquet.ts`, and for the explorer's preview.
 *  github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md */

/** A structure of the metadata: its values by field number. */
export type ThriftStruct = ReadonlyMap<number, ThriftValue>;
type ThriftValue = boolean | bigint | number | Uint8Array | readonly ThriftValue[] | ThriftStruct;

/** Deepest nesting of structures, against malicious files that would overflow the stack; the
 *  metadata of Parquet has fewer levels. */
const depthMax = 16;

const types = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
} as const;

export function readStruct(reader: ParquetBytes, depth = 0): ThriftStruct {
  if (depth > depthMax) throw new ParquetError("the metadata has too many levels");
  const fields = new Map<number, ThriftValue>();
  let id = 0;
  for (;;) {
    const head = reader.uint8();
    const type = head & 0x0f;
    if (type === types.stop) return fields;
    const step = head >> 4;
    id = step === 0 ? Number(reader.zigzag()) : id + step;
    fields.set(id, readValue(reader, type, depth));
  }
}

function readValue(reader: ParquetBytes, type: number, depth: number): ThriftValue {
  switch (type) {
    case types.true:
      return true;
    case types.false:
      return false;
    case types.byte:
      return BigInt(reader.uint8());
    case types.i16:
    case types.i32:
    case types.i64:
      return reader.zigzag();
    case types.double:
      return reader.double();
    case types.binary:
      return reader.take(reader.varint());
    case types.list:
    case types.set:
      return readList(reader, depth);
    case types.struct:
      return readStruct(reader, depth + 1);
    default:
      throw new ParquetError(`the metadata has a value of the unknown type ${type}`);
  }
}

function readList(reader: ParquetBytes, depth: number): readonly ThriftValue[] {
  const head = reader.uint8();
  const type = head & 0x0f;
  const length = head >> 4 === 15 ? reader.varint() : head >> 4;
  // A list needs at least one byte per element, so a longer one is malicious.
  if (length > reader.remaining) throw new ParquetError("a list of the metadata is truncated");
  const isFlag = type === types.true || type === types.false;
  const values: ThriftValue[] = [];
  for (let count = 0; count < length; count += 1) {
    values.push(isFlag ? reader.uint8() === types.true : readValue(reader, type, depth + 1));
  }
  return values;
}

/* Getters for the fields of a structure; undefined if a field is absent or of another type. */

export function intOf(struct: ThriftStruct | undefined, id: number): number | undefined {
  const value = struct?.get(id);
  if (typeof value !== "bigint") return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

export function structOf(struct: ThriftStruct | undefined, id: number): ThriftStruct | undefined {
  return asStruct(struct?.get(id));
}

function structsOf(struct: ThriftStruct | undefined, id: number): readonly ThriftStruct[] {
  return listOf(struct, id).flatMap((value) => asStruct(value) ?? []);
}

function listOf(struct: ThriftStruct | undefined, id: number): readonly ThriftValue[] {
  const value = struct?.get(id);
  return Array.isArray(value) ? (value as readonly ThriftValue[]) : [];
}

function textOf(value: ThriftValue | undefined): string {
  // `TextDecoder` instead of `Buffer`, because the explorer reads schemas in the browser.
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
}

function asStruct(value: ThriftValue | undefined): ThriftStruct | undefined {
  return value instanceof Map ? (value as ThriftStruct) : undefined;
}

/** The types in which values are stored (physical types), in the order of their numbers.
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

/** A column that queries can read: its values are not in lists or structures. */
export interface Column {
  readonly name: string;
  readonly type: PhysicalType;
  /** Bytes of a value of the type `fixed`. */
  readonly typeLength: number;
  readonly isOptional: boolean;
  readonly logical: LogicalType | undefined;
}

/** Where the pages of one column are in a row group (a part of the rows). */
export interface ColumnChunk {
  readonly codec: number;
  readonly valueCount: number;
  /** Offsets of the chunk in the file. */
  readonly from: number;
  readonly to: number;
}

export interface RowGroup {
  readonly rowCount: number;
  /** Column chunks, by the name of the column. */
  readonly chunks: ReadonlyMap<string, ColumnChunk>;
}

export interface ParquetMetadata {
  readonly columns: readonly Column[];
  /** Names of the columns with lists or structures, which queries cannot read. */
  readonly nested: readonly string[];
  readonly rowGroups: readonly RowGroup[];
}

const columnsMax = 16_384;
const rowGroupsMax = 65_536;

export function readMetadata(footer: Uint8Array): ParquetMetadata {
  const file = readStruct(new ParquetBytes(footer));
  const schema = schemaOf(file);
  const groups = structsOf(file, 4);
  if (groups.length > rowGroupsMax) {
    throw new ParquetError(`the file has over ${rowGroupsMax} row groups`);
  }
  return { ...readColumns(schema), rowGroups: groups.map(readRowGroup) };
}

function schemaOf(file: ThriftStruct): readonly ThriftStruct[] {
  const schema = structsOf(file, 2);
  if (schema.length === 0) throw new ParquetError("the file has no schema");
  if (schema.length > columnsMax) throw new ParquetError(`the file has over ${columnsMax} columns`);
  return schema;
}

/** An element of the schema, for the explorer: a column, or a structure or list of columns. */
export interface SchemaElement {
  readonly name: string;
  /** Number of structures around the element; 0 for a column that is in no structure. */
  readonly depth: number;
  /** Physical type; undefined for a structure. */
  readonly type: PhysicalType | undefined;
  readonly logical: LogicalType | undefined;
  readonly repetition: "required" | "optional" | "repeated";
}

/** Reads the whole schema in depth-first order, and the number of rows, for the explorer's preview
 *  of Parquet files. */
export function readSchema(footer: Uint8Array): {
  readonly elements: readonly SchemaElement[];
  readonly rowCount: number;
} {
  const file = readStruct(new ParquetBytes(footer));
  const [root, ...schema] = schemaOf(file);
  /** Number of elements that are still to come at each level of the tree. */
  const open = [intOf(root, 5) ?? 0];
  const elements = schema.map((element): SchemaElement => {
    while (open.length > 1 && open.at(-1) === 0) open.pop();
    const depth = open.length - 1;
    open[depth] = (open[depth] ?? 0) - 1;
    open.push(intOf(element, 5) ?? 0);
    return {
      name: textOf(element.get(4)),
      depth,
      type: physicalTypes[intOf(element, 1) ?? -1],
      logical: logicalOf(structOf(element, 10)) ?? convertedOf(element),
      repetition: repetitionNames[intOf(element, 3) ?? 0] ?? "required",
    };
  });
  return { elements, rowCount: intOf(file, 3) ?? 0 };
}

const repetitionNames = ["required", "optional", "repeated"] as const;

/** Finds the readable columns. The schema is a tree in depth-first order; its first element is the
 *  root. */
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

/** The index in the schema after an element and everything below it. */
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

/** The logical type of a schema element from its field `converted_type`, the older form that
 *  writers still use. */
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
  // Some writers use 0 for "no dictionary page".
  const from = dictionaryFrom > 0 ? Math.min(dictionaryFrom, dataFrom) : dataFrom;
  return {
    codec: intOf(data, 4) ?? -1,
    valueCount: intOf(data, 5) ?? 0,
    from,
    to: from + (intOf(data, 7) ?? 0),
  };
}
