import { combineCrc64, crc64Bytes, crc64Of, crc64OfNothing } from "./crc64.ts";
import {
  crc64Flag,
  crc64Length,
  headerBytes,
  segmentHeaderBytes,
  structuredVersion,
} from "./structured-form.ts";

/** The structured body is invalid: truncated, segments out of order, or a wrong checksum. */
export class InvalidStructuredBody extends Error {
  override readonly name = "StructuredBodyWrong";
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
    const head = view(await source.exactly(segmentHeaderBytes));
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
  const header = view(bytes);
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

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Reads from a stream of chunks and buffers at most the current chunk. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Stops reading, so that the response can be sent while the client is still sending. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Returns available bytes, at most `max`. */
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
