import { combineCrc64, crc64Bytes, crc64Of, crc64OfNothing } from "./checksums.ts";

/**
 * The structured body format: data with checksums in between, as newer clients send and request it
 * (`x-ms-structured-body`). `http/request/body.ts` reads it, `operation/content-reply.ts` writes
 * it. All numbers are little-endian; sizes in bytes in parentheses.
 *
 * Header: version (1), length of the whole message (8), flags (2), number of segments (2). Segment:
 * its number from 1 (2), its length (8), the data, its CRC64 (8). At the end the CRC64 of all data
 * (8).
 */
export const structuredForm = "XSM/1.0; properties=crc64";
const structuredVersion = 1;
const crc64Flag = 1;
const headerBytes = 13;
const segmentHeaderBytes = 10;
const crc64Length = 8;
const segmentsMax = 65_535;

/** Data in a segment of a response, unless the body would have more than `segmentsMax` of them. */
const segmentBytesDefault = 4 * 1024 * 1024;

/** A structured body is truncated, its segments are out of order, or (`checksum`) its data differ
 *  from a checksum; the client gets another error code for that. */
export class InvalidStructuredBody extends Error {
  override readonly name = "InvalidStructuredBody";
  readonly checksum: boolean;

  constructor(message: string, checksum = false) {
    super(message);
    this.checksum = checksum;
  }
}

/** Yields the data of a structured body and verifies it. The consumer must discard the bytes if
 *  this throws later. */
export async function* readStructured(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = new ChunkReader(chunks);
  try {
    yield* checkedBytes(source);
  } finally {
    await source.close();
  }
}

async function* checkedBytes(source: ChunkReader): AsyncGenerator<Uint8Array, void, undefined> {
  const { hasChecksums, segments } = parseHeader(await source.exactly(headerBytes));
  let all = crc64OfNothing;
  for (let number = 1; number <= segments; number += 1) {
    const head = viewOf(await source.exactly(segmentHeaderBytes));
    if (head.getUint16(0, true) !== number)
      throw new InvalidStructuredBody("segments out of order");
    let left = Number(head.getBigUint64(2, true));
    if (!Number.isSafeInteger(left)) throw new InvalidStructuredBody("segment is too long");
    let current = crc64OfNothing;
    while (left > 0) {
      const part = await source.some(left);
      const crc = crc64Of(part);
      current = combineCrc64(current, crc, part.length);
      all = combineCrc64(all, crc, part.length);
      left -= part.length;
      yield part;
    }
    if (hasChecksums) await expectCrc64(source, current);
  }
  if (hasChecksums) await expectCrc64(source, all);
  if (!(await source.isAtEnd()))
    throw new InvalidStructuredBody("the body has more bytes than its header declares");
}

function parseHeader(bytes: Uint8Array) {
  const header = viewOf(bytes);
  if (header.getUint8(0) !== structuredVersion) throw new InvalidStructuredBody("unknown version");
  return {
    hasChecksums: (header.getUint16(9, true) & crc64Flag) !== 0,
    segments: header.getUint16(11, true),
  };
}

async function expectCrc64(source: ChunkReader, computed: bigint): Promise<void> {
  const given = await source.exactly(crc64Length);
  if (Buffer.compare(given, crc64Bytes(computed)) !== 0) {
    throw new InvalidStructuredBody("checksum mismatch", true);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Reads given numbers of bytes from a stream of chunks; buffers at most the current chunk. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Stops reading, so that an error response can be sent while the client is still sending. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Returns bytes that have arrived, at least 1 and at most `max`; waits if there are none. */
  async some(max: number): Promise<Uint8Array> {
    if (await this.isAtEnd()) throw new InvalidStructuredBody("the body was cut off");
    const part = this.#chunk.subarray(0, max);
    this.#chunk = this.#chunk.subarray(part.length);
    return part;
  }

  async exactly(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length;) {
      const part = await this.some(length - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return true;
      this.#chunk = next.value;
    }
    return false;
  }
}

/** Encodes the body of a response, whose length is known, in the structured body format. */
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
  if (length === 0) {
    yield segmentHeader(1, 0);
    yield crc64Bytes(current);
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

/** Size and number of the segments in which this server sends a body of a given length. An empty
 *  body has one empty segment: the decoders of the client libraries expect at least one. */
function segmentsOf(length: number): { readonly bytes: number; readonly count: number } {
  const bytes = Math.max(segmentBytesDefault, Math.ceil(length / segmentsMax));
  return { bytes, count: Math.max(1, Math.ceil(length / bytes)) };
}

/** Length of a structured body with `length` bytes of data: the `Content-Length` of a response. */
export function structuredLength(length: number): number {
  const { count } = segmentsOf(length);
  return headerBytes + count * (segmentHeaderBytes + crc64Length) + length + crc64Length;
}

export function isStructuredForm(text: string): boolean {
  return /^XSM\/1\.0;\s*properties=crc64$/i.test(text.trim());
}
