import { combineCrc64, crc64Bytes, crc64Of, crc64OfNothing } from "./crc64.ts";
import {
  crc64Flag,
  headerBytes,
  segmentHeaderBytes,
  segmentsOf,
  structuredLength,
  structuredVersion,
} from "./structured-form.ts";

/** Encodes a body of known length in the structured body format. */
export async function* writeStructured(
  chunks: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const segments = segmentsOf(length);
  yield messageHeader(length, segments.count);
  let all = crc64OfNothing;
  let current = crc64OfNothing;
  let number = 0;
  let left = 0;
  let rest = length;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      if (left === 0) {
        left = Math.min(segments.bytes, rest);
        number += 1;
        yield segmentHeader(number, left);
        current = crc64OfNothing;
      }
      const part = chunk.subarray(from, from + Math.min(left, chunk.length - from));
      const crc = crc64Of(part);
      current = combineCrc64(current, crc, part.length);
      all = combineCrc64(all, crc, part.length);
      yield part;
      from += part.length;
      left -= part.length;
      rest -= part.length;
      if (left === 0) yield crc64Bytes(current);
    }
  }
  yield crc64Bytes(all);
}

function messageHeader(length: number, count: number): Uint8Array {
  const bytes = new Uint8Array(headerBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, structuredVersion);
  view.setBigUint64(1, BigInt(structuredLength(length)), true);
  view.setUint16(9, crc64Flag, true);
  view.setUint16(11, count, true);
  return bytes;
}

function segmentHeader(number: number, length: number): Uint8Array {
  const bytes = new Uint8Array(segmentHeaderBytes);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, number, true);
  view.setBigUint64(2, BigInt(length), true);
  return bytes;
}
