import type { SliceSourceOfLength } from "./content-ref.ts";
import type { BodyChecksums } from "./checksums.ts";
import type { ReceiveOptions } from "./content.ts";
import { bodyCipher } from "./cipher.ts";
import { combineCrc64, crc64Of } from "./crc64.ts";
import type { ExtentWriter, Region } from "./extent-writer.ts";
import { sharedBufferBytes, type Md5Thread } from "./md5-thread.ts";

/** Bytes that are collected before a write. A body has at most two such buffers in memory. */
const batchBytes = sharedBufferBytes;
/** Space that a body of unknown length reserves at a time. */
const chunkReserveBytes = 4 * 1024 * 1024;

/** Reserved space and the bytes written to it. */
interface Piece {
  region: Region;
  filled: number;
  crc64: bigint | undefined;
}

/** Receives one body: keeps it in memory while it is small, then writes it to extents. */
export class BodySink {
  readonly #writer: ExtentWriter;
  readonly #checksums: BodyChecksums;
  readonly #declaredLength: number | undefined;
  readonly #inlineBytesMax: number;
  /** Provides the buffers if a thread computes the MD5. */
  readonly #thread: Md5Thread | undefined;
  readonly #nonce: bigint | undefined;
  readonly #encrypt: ((bytes: Uint8Array) => Uint8Array) | undefined;
  readonly #pieces: Piece[] = [];
  #batch: Uint8Array;
  #spare: Uint8Array | undefined;
  #filled = 0;
  #writing: Promise<void> | undefined;
  length = 0;

  constructor(
    writer: ExtentWriter,
    checksums: BodyChecksums,
    options: ReceiveOptions,
    thread?: Md5Thread,
  ) {
    this.#writer = writer;
    this.#checksums = checksums;
    this.#declaredLength = options.length;
    this.#inlineBytesMax = options.inlineBytesMax;
    this.#thread = thread;
    const { encryption } = options;
    this.#nonce = encryption?.nonce;
    this.#encrypt = encryption && bodyCipher(encryption.key, encryption.nonce);
    const expected = options.length ?? Math.max(options.inlineBytesMax, 16 * 1024);
    this.#batch = thread?.acquire() ?? new Uint8Array(Math.min(batchBytes, Math.max(1, expected)));
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.length += chunk.length;
    for (let from = 0; from < chunk.length;) {
      if (this.#filled === this.#batch.length) await this.#makeRoom();
      const count = Math.min(chunk.length - from, this.#batch.length - this.#filled);
      this.#batch.set(chunk.subarray(from, from + count), this.#filled);
      this.#filled += count;
      from += count;
    }
  }

  /** Flushes the body and returns the sources of all its bytes. */
  async finish(): Promise<SliceSourceOfLength[]> {
    const bytes = this.#batch.subarray(0, this.#filled);
    if (this.length <= this.#inlineBytesMax && this.#pieces.length === 0) {
      this.#checksums.update(bytes, true);
      const stored = this.#encrypt?.(bytes) ?? bytes;
      return this.#withCipher(
        stored.length === 0 ? [] : [{ length: stored.length, source: { bytes: ownBytes(stored) } }],
      );
    }
    await this.#writing;
    this.#writing = undefined;
    if (bytes.length > 0) await this.#write(bytes, true);
    this.#releaseBuffers();
    this.#trimLast();
    await this.#writer.sync(this.#pieces.map(({ region }) => region.extent));
    return this.#withCipher(this.#pieces.map(describePiece));
  }

  /** Adds nonce and offset in the cipher stream to each piece of an encrypted body. */
  #withCipher(pieces: SliceSourceOfLength[]): SliceSourceOfLength[] {
    const nonce = this.#nonce;
    if (nonce === undefined) return pieces;
    let at = 0;
    return pieces.map(({ length, source }) => {
      const cipher = { nonce, at };
      at += length;
      return { length, source: { ...source, cipher } };
    });
  }

  /** Frees the reserved space, after the write in progress. */
  async abandon(): Promise<void> {
    await this.#writing?.catch(() => undefined);
    for (const { region } of this.#pieces) this.#writer.freeRegion(region);
    this.#pieces.length = 0;
  }

  /** Enlarges a small buffer, or writes a full one while the next one is filled. */
  async #makeRoom(): Promise<void> {
    if (this.#batch.length < batchBytes) {
      const grown = Buffer.allocUnsafeSlow(batchBytes);
      grown.set(this.#batch);
      this.#batch = grown;
      return;
    }
    await this.#writing;
    const full = this.#batch;
    this.#batch = this.#spare ?? this.#thread?.acquire() ?? Buffer.allocUnsafeSlow(batchBytes);
    this.#spare = full;
    this.#filled = 0;
    this.#writing = this.#write(full, false);
    // A failure is thrown where the write is awaited. Until then this handler prevents an unhandled
    // rejection.
    this.#writing.catch(() => undefined);
  }

  async #write(plain: Uint8Array, last: boolean): Promise<void> {
    const plainCrc64 = this.#checksums.update(plain, last && this.#pieces.length === 0);
    const bytes = this.#encrypt?.(plain) ?? plain;
    // Compaction verifies the stored bytes, so the checksum is that of the encrypted ones.
    const crc64OfAll = bytes === plain ? plainCrc64 : crc64Of(bytes);
    for (let from = 0; from < bytes.length;) {
      const piece = await this.#pieceWithRoom(bytes.length - from, last);
      const count = Math.min(bytes.length - from, piece.region.length - piece.filled);
      const part = count === bytes.length ? bytes : bytes.subarray(from, from + count);
      await this.#writer.write(piece.region, part, piece.filled);
      // A buffer that is split between two regions gets no checksum: computing one for each part
      // would need a second pass.
      const crc64 = count === bytes.length ? crc64OfAll : undefined;
      piece.crc64 = combinedCrc64(piece, crc64, count);
      piece.filled += count;
      from += count;
    }
    if (this.#checksums.hashed !== undefined) await this.#checksums.hashed;
  }

  /** Called when all bytes are written and hashed. */
  #releaseBuffers(): void {
    this.#thread?.release(this.#batch);
    if (this.#spare !== undefined) this.#thread?.release(this.#spare);
  }

  async #pieceWithRoom(length: number, last: boolean): Promise<Piece> {
    const current = this.#pieces.at(-1);
    if (current !== undefined && current.filled < current.region.length) return current;
    const region = await this.#writer.reserve(this.#reserveBytes(length, last));
    const isContiguous = current !== undefined && isAdjacent(current.region, region);
    if (isContiguous) {
      current.region = { ...current.region, length: current.region.length + region.length };
      this.#writer.releaseHold(region.extent);
      return current;
    }
    const piece = { region, filled: 0, crc64: undefined };
    this.#pieces.push(piece);
    return piece;
  }

  #reserveBytes(length: number, last: boolean): number {
    if (this.#declaredLength === undefined)
      return last ? length : Math.max(length, chunkReserveBytes);
    let written = 0;
    for (const { filled } of this.#pieces) written += filled;
    return Math.max(length, this.#declaredLength - written);
  }

  #trimLast(): void {
    const last = this.#pieces.at(-1);
    if (last === undefined || last.filled === last.region.length) return;
    last.region = this.#writer.shorten(last.region, last.filled);
  }
}

function isAdjacent(left: Region, right: Region): boolean {
  return left.extent === right.extent && left.offset + left.length === right.offset;
}

function combinedCrc64(
  piece: Piece,
  crc64: bigint | undefined,
  length: number,
): bigint | undefined {
  if (piece.filled === 0) return crc64;
  if (piece.crc64 === undefined || crc64 === undefined) return undefined;
  return combineCrc64(piece.crc64, crc64, length);
}

function describePiece({ region, crc64 }: Piece): SliceSourceOfLength {
  const { extent, offset, length } = region;
  return { length, source: crc64 === undefined ? { extent, offset } : { extent, offset, crc64 } };
}

/** Copies bytes that are a view of a larger buffer, which would otherwise stay in memory as long as
 *  they do. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
