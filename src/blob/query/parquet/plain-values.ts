import { ParquetBytes, ParquetError } from "./parquet-bytes.ts";
import type { Column } from "./metadata.ts";

/** A value as it is stored, before its logical type is applied. */
export type RawValue = boolean | number | bigint | Uint8Array;

/** Returns the next value of a page at each call. Pages are decoded value by value, so that no call
 *  takes long. */
export type NextValue = () => RawValue;

type StoredType = Pick<Column, "type" | "typeLength">;

/** Reads values that are stored one after the other. */
export function plainValues(reader: ParquetBytes, { type, typeLength }: StoredType): NextValue {
  switch (type) {
    case "boolean":
      return flags(reader);
    case "int32":
      return () => reader.int32();
    case "int64":
      return () => reader.int64();
    case "int96":
      return () => reader.take(12);
    case "float":
      return () => reader.float();
    case "double":
      return () => reader.double();
    case "bytes":
      return () => reader.take(reader.uint32());
    case "fixed":
      if (typeLength <= 0) throw new ParquetError("the length of the values is missing");
      return () => reader.take(typeLength);
  }
}

function flags(reader: ParquetBytes): NextValue {
  let byte = 0;
  let left = 0;
  return () => {
    if (left === 0) {
      byte = reader.uint8();
      left = 8;
    }
    const isSet = (byte >> (8 - left)) & 1;
    left -= 1;
    return isSet === 1;
  };
}

const widths: Readonly<Partial<Record<Column["type"], number>>> = {
  int32: 4,
  int64: 8,
  float: 4,
  double: 8,
};

/** Reads values whose first bytes are stored together, then their second bytes, and so on. */
export function splitValues(reader: ParquetBytes, column: StoredType): NextValue {
  const width = column.type === "fixed" ? column.typeLength : (widths[column.type] ?? 0);
  if (width <= 0) throw new ParquetError("values of this type cannot be split");
  const count = Math.floor(reader.remaining / width);
  const split = reader.take(width * count);
  let at = 0;
  return () => {
    if (at >= count) throw new ParquetError("values are missing");
    const bytes = Uint8Array.from(
      { length: width },
      (_, stream) => split[stream * count + at] ?? 0,
    );
    at += 1;
    return plainValues(new ParquetBytes(bytes), column)();
  };
}
