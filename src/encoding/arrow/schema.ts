import type { ColumnKind } from "./columns.ts";
import type { FlatField, FlatTable } from "./flatbuffer.ts";

/** Builds the metadata messages of an Arrow stream, which `stream.ts` writes: schema and batches.
 *  Numbers and slots are those of Schema.fbs and Message.fbs of Apache Arrow.
 *  arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc */

const metadataVersion5 = 4;
const typeNumbers = {
  int: 2,
  float: 3,
  utf8: 5,
  bool: 6,
  decimal: 7,
  timestamp: 10,
  struct: 13,
  map: 17,
} as const;
const doublePrecision = 2;
const unitMilliseconds = 1;
const headers = { schema: 1, recordBatch: 3 } as const;

interface Field {
  readonly name: string;
  readonly nullable: boolean;
  readonly type: keyof typeof typeNumbers;
  readonly typeFields?: readonly (FlatField | undefined)[];
  readonly children?: readonly FlatTable[];
}

export interface SchemaColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** `precision` and `scale` are for decimals only. */
  readonly precision?: number;
  readonly scale?: number;
}

/** The schema message: names and types of the columns. */
export function schemaMessage(
  columns: readonly SchemaColumn[],
  metadata: Readonly<Record<string, string>>,
): FlatTable {
  const littleEndian = undefined;
  const pairs = Object.entries(metadata).map(([key, value]) => table([text(key), text(value)]));
  const fields = columns.map(fieldOf);
  return message("schema", table([littleEndian, tables(fields), tables(pairs)]), 0);
}

/** The metadata of a record batch: where in its body the buffers of the columns are. */
interface BatchLayout {
  readonly rows: number;
  /** Length and number of nulls of every column. */
  readonly nodes: readonly (readonly [length: number, nulls: number])[];
  /** Offset and length of every buffer in the body. */
  readonly buffers: readonly (readonly [offset: number, length: number])[];
  readonly bodyBytes: number;
}

/** The message that describes a record batch; the body follows it in the stream. */
export function batchMessage({ rows, nodes, buffers, bodyBytes }: BatchLayout): FlatTable {
  const batch = table([int64(rows), structs(nodes), structs(buffers)]);
  return message("recordBatch", batch, bodyBytes);
}

function message(header: keyof typeof headers, content: FlatTable, bodyBytes: number): FlatTable {
  const version = { bytes: 2, value: metadataVersion5 } as const;
  const kind = { bytes: 1, value: headers[header] } as const;
  return table([version, kind, { to: content }, int64(bodyBytes)]);
}

function fieldOf({ name, kind, nullable, precision = 0, scale = 0 }: SchemaColumn): FlatTable {
  switch (kind) {
    case "text":
      return field({ name, nullable, type: "utf8" });
    case "boolean":
      return field({ name, nullable, type: "bool" });
    case "uint64":
      return field({ name, nullable, type: "int", typeFields: [int32(64)] });
    case "int64": {
      const typeFields = [int32(64), { bytes: 1, value: 1 }] as const;
      return field({ name, nullable, type: "int", typeFields });
    }
    case "double":
      return field({ name, nullable, type: "float", typeFields: [int16(doublePrecision)] });
    case "decimal": {
      const typeFields = [int32(precision), int32(scale)];
      return field({ name, nullable, type: "decimal", typeFields });
    }
    case "seconds":
      return field({ name, nullable, type: "timestamp" });
    case "milliseconds":
      return field({ name, nullable, type: "timestamp", typeFields: [int16(unitMilliseconds)] });
    case "map":
      return field({ name, nullable, type: "map", children: [pairField()] });
    default:
      return kind satisfies never;
  }
}

function pairField(): FlatTable {
  const key = field({ name: "key", nullable: false, type: "utf8" });
  const value = field({ name: "value", nullable: true, type: "utf8" });
  return field({ name: "entries", nullable: false, type: "struct", children: [key, value] });
}

/** A field of the schema. Always has a list of children: some readers reject a field without it. */
function field({ name, nullable, type, typeFields = [], children = [] }: Field): FlatTable {
  const mayBeNull = { bytes: 1, value: nullable ? 1 : 0 } as const;
  const kind = { bytes: 1, value: typeNumbers[type] } as const;
  const noDictionary = undefined;
  const content = { to: table(typeFields) };
  return table([text(name), mayBeNull, kind, content, noDictionary, tables(children)]);
}

function table(fields: FlatTable["fields"]): FlatTable {
  return { kind: "table", fields };
}

function text(value: string): FlatField {
  return { to: { kind: "text", text: value } };
}

function tables(items: readonly FlatTable[]): FlatField {
  return { to: { kind: "tables", items } };
}

function structs(items: readonly (readonly number[])[]): FlatField {
  return { to: { kind: "structs", items } };
}

function int16(value: number): FlatField {
  return { bytes: 2, value };
}

function int32(value: number): FlatField {
  return { bytes: 4, value };
}

function int64(value: number): FlatField {
  return { bytes: 8, value };
}
