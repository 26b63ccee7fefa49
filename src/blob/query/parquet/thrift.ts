import { ParquetError, type ParquetBytes } from "./parquet-bytes.ts";

/** A structure of Thrift's compact protocol, in which Parquet writes its metadata: values by field
 *  number. github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md */
export type ThriftStruct = ReadonlyMap<number, ThriftValue>;
type ThriftValue = boolean | bigint | number | Uint8Array | readonly ThriftValue[] | ThriftStruct;

/** The metadata of Parquet has fewer levels. */
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
  // Every element has at least one byte.
  if (length > reader.remaining) throw new ParquetError("a list of the metadata is truncated");
  const isFlag = type === types.true || type === types.false;
  const values: ThriftValue[] = [];
  for (let count = 0; count < length; count += 1) {
    values.push(isFlag ? reader.uint8() === types.true : readValue(reader, type, depth + 1));
  }
  return values;
}

/* The fields of a structure; undefined if they are absent or of another type. */

export function intOf(struct: ThriftStruct | undefined, id: number): number | undefined {
  const value = struct?.get(id);
  if (typeof value !== "bigint") return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

export function structOf(struct: ThriftStruct | undefined, id: number): ThriftStruct | undefined {
  return asStruct(struct?.get(id));
}

export function structsOf(struct: ThriftStruct | undefined, id: number): readonly ThriftStruct[] {
  return listOf(struct, id).flatMap((value) => asStruct(value) ?? []);
}

export function listOf(struct: ThriftStruct | undefined, id: number): readonly ThriftValue[] {
  const value = struct?.get(id);
  return Array.isArray(value) ? (value as readonly ThriftValue[]) : [];
}

export function textOf(value: ThriftValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : "";
}

function asStruct(value: ThriftValue | undefined): ThriftStruct | undefined {
  return value instanceof Map ? (value as ThriftStruct) : undefined;
}
