import type { FieldValue } from "../records.ts";
import { ByteReader, ParquetError } from "./byte-reader.ts";
import { convert } from "./convert.ts";
import { DeltaReader, textsByLength, textsByPrefix } from "./deltas.ts";
import type { Column } from "./metadata.ts";
import { plainValues, splitValues, type NextValue } from "./plain-values.ts";
import { RunReader } from "./runs.ts";

/** The values of a dictionary page, which data pages refer to by their index. */
export interface Dictionary {
  readonly values: readonly FieldValue[];
  readonly bytes: number;
}

/** Numbers of the encodings that are written today.
 *  parquet.apache.org/docs/file-format/data-pages/encodings/ */
const encodings = {
  plain: 0,
  plainDictionary: 2,
  runs: 3,
  deltas: 5,
  deltaLengths: 6,
  deltaTexts: 7,
  dictionary: 8,
  split: 9,
} as const;

/** Returns a function that decodes the next value of a data page; nulls are not among them. */
export function pageValues(
  bytes: Uint8Array,
  encoding: number,
  column: Column,
  dictionary: Dictionary | undefined,
): () => FieldValue {
  const reader = new ByteReader(bytes);
  if (encoding === encodings.dictionary || encoding === encodings.plainDictionary) {
    return dictionaryValues(reader, dictionary);
  }
  const next = storedValues(reader, encoding, column);
  return () => convert(next(), column);
}

function dictionaryValues(reader: ByteReader, dictionary: Dictionary | undefined) {
  if (dictionary === undefined) throw new ParquetError("a dictionary is missing");
  // A page without values may be empty.
  const indexes = new RunReader(reader, reader.remaining === 0 ? 0 : reader.uint8());
  return (): FieldValue => {
    const value = dictionary.values[indexes.next()];
    if (value === undefined) throw new ParquetError("a value is not in the dictionary");
    return value;
  };
}

function storedValues(reader: ByteReader, encoding: number, column: Column): NextValue {
  switch (encoding) {
    case encodings.plain:
      return plainValues(reader, column);
    case encodings.runs: {
      const flags = new RunReader(new ByteReader(reader.take(reader.uint32())), 1);
      return () => flags.next() === 1;
    }
    case encodings.deltas: {
      if (column.type !== "int32") {
        const numbers = new DeltaReader(reader);
        return () => numbers.next();
      }
      const numbers = new DeltaReader(reader, 32);
      return () => Number(numbers.next());
    }
    case encodings.deltaLengths:
      return textsByLength(reader);
    case encodings.deltaTexts:
      return textsByPrefix(reader);
    case encodings.split:
      return splitValues(reader, column);
    default:
      throw new ParquetError(`this server cannot read the encoding ${encoding}`);
  }
}
