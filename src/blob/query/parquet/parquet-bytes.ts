import { ByteReader } from "../../../encoding/byte-reader.ts";

/** A Parquet file, or a part of one, that is malformed or that this server cannot read. */
export class ParquetError extends Error {
  override readonly name = "ParquetError";
}

/** Reads numbers from bytes, in order. Throws `ParquetError` at the end of the bytes. */
export class ParquetBytes extends ByteReader {
  protected override fail(reason: string): never {
    throw new ParquetError(reason);
  }
}
