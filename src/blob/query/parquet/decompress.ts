import * as zlib from "node:zlib";
import type { LoopShare } from "../../../base/loop-share.ts";
import { ParquetBytes, ParquetError } from "./page-values.ts";

/** Decompression of Parquet pages, for `column-cursor.ts`. */

/** Names of the compression codecs in the order of their numbers in the Parquet format. */
const codecs = [
  "uncompressed",
  "snappy",
  "gzip",
  "lzo",
  "brotli",
  "lz4",
  "zstd",
  "lz4-raw",
] as const;

type Decompress = (
  bytes: Uint8Array,
  options: { readonly maxOutputLength: number },
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

/** Node's decompression functions by codec. The oldest supported Node has no Zstandard. */
const functions: Readonly<Partial<Record<(typeof codecs)[number], Decompress | undefined>>> = {
  gzip: zlib.gunzip,
  brotli: zlib.brotliDecompress,
  zstd: (zlib as { readonly zstdDecompress?: Decompress }).zstdDecompress,
};

/** Decompresses a page of a column to `length` bytes, which the page header states. */
export async function decompress(
  codec: number,
  bytes: Uint8Array,
  length: number,
  loop: LoopShare,
): Promise<Uint8Array> {
  const name = codecs[codec];
  if (name === "uncompressed" || length === 0) return bytes;
  const result = await (name === "snappy"
    ? unpackSnappy(bytes, length, loop)
    : inflate(name, bytes, length));
  if (result.length !== length) throw new ParquetError("a page has another length than it says");
  return result;
}

function inflate(
  name: (typeof codecs)[number] | undefined,
  bytes: Uint8Array,
  length: number,
): Promise<Uint8Array> {
  const run = name && functions[name];
  if (run === undefined) {
    throw new ParquetError(`this server cannot read the compression ${name ?? "of the file"}`);
  }
  return new Promise((resolve, reject) => {
    run(bytes, { maxOutputLength: length }, (error, result) => {
      if (error === null) resolve(result);
      else reject(new ParquetError("a page cannot be decompressed"));
    });
  });
}

/** Cost of one element of compressed data (a literal or a copy), in units of event-loop time (about
 *  10 µs; `base/loop-share.ts`). */
const unitsPerElement = 0.01;

/** Decompresses Snappy, which Node does not have.
 *  github.com/google/snappy/blob/main/format_description.txt */
export async function unpackSnappy(
  bytes: Uint8Array,
  length: number,
  loop: LoopShare,
): Promise<Uint8Array> {
  const reader = new ParquetBytes(bytes);
  if (reader.varint() !== length) throw new ParquetError("a page has another length than it says");
  const output = new Uint8Array(length);
  let at = 0;
  while (reader.remaining > 0) {
    const wait = loop.spend(unitsPerElement);
    if (wait !== undefined) await wait;
    const tag = reader.uint8();
    if ((tag & 3) === 0) {
      const literal = reader.take(literalLength(reader, tag >> 2));
      if (at + literal.length > length) throw new ParquetError("a page is longer than it says");
      output.set(literal, at);
      at += literal.length;
    } else {
      at = copyBack(reader, tag, output, at);
    }
  }
  return output.subarray(0, at);
}

function literalLength(reader: ParquetBytes, code: number): number {
  if (code < 60) return code + 1;
  let length = 0;
  for (let at = 0; at < code - 59; at += 1) length += reader.uint8() * 2 ** (8 * at);
  return length + 1;
}

function copyBack(reader: ParquetBytes, tag: number, output: Uint8Array, at: number): number {
  const kind = tag & 3;
  const length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
  const distance =
    kind === 1
      ? (tag >> 5) * 256 + reader.uint8()
      : kind === 2
        ? reader.uint8() + reader.uint8() * 256
        : reader.uint32();
  if (distance === 0 || distance > at || at + length > output.length) {
    throw new ParquetError("a page is not compressed correctly");
  }
  // Byte by byte, because the copied bytes may overlap with those that are written.
  for (let count = 0; count < length; count += 1) {
    output[at + count] = output[at + count - distance] ?? 0;
  }
  return at + length;
}
