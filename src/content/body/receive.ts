import type { ReceivedBody, SliceSourceOfLength, SliceCipher } from "../content-ref.ts";
import { BodyTooLarge, type Body, type ReceiveOptions } from "../content.ts";
import {
  newBytes,
  acquireAligned,
  acquireBuffer,
  copyInto,
  isAligned,
  otherBufferBytes,
  releaseBuffer,
} from "../../process/bytes.ts";
import {
  BodyChecksums,
  md5Of,
  crc64Bytes,
  crc64BytesOf,
  combineCrc64,
  crc64Of,
} from "./checksums.ts";
import type { ExtentWriter, Region } from "../extents/extent-writer.ts";
import type { Md5Source } from "./md5-thread.ts";
import { createCipheriv, createDecipheriv } from "node:crypto";

/** Receives bodies for `ContentStore.receive` (`content/open-content.ts`), before the transaction
 *  of a request: a small body stays in memory, for the record; a larger one is written to extents
 *  while it arrives. The end of the file encrypts bodies with keys of clients and encryption
 *  scopes. */

/** A body with a declared length of up to this is received into one array, allocated before it
 *  arrives; longer ones are written chunk by chunk. */
const wholeBytesMax = 64 * 1024;
/** Smaller bodies take less time to hash than a thread takes to answer. */
const threadBytesMin = 512 * 1024;

/** Receives a body in the way that suits its length. Each chunk is copied before the next one is
 *  requested, so a body may reuse its buffer. */
export function receive(
  writer: ExtentWriter,
  body: Body,
  options: ReceiveOptions,
  md5Thread?: Md5Source,
): Promise<ReceivedBody> {
  const { length, lengthMax } = options;
  if (length !== undefined && length > lengthMax) return Promise.reject(tooLarge(lengthMax));
  if (length === undefined) return receiveStream(writer, body, options, md5Thread);
  if (length <= options.inlineBytesMax && !options.encryption) {
    return receiveSmall(body, length, options);
  }
  return length <= wholeBytesMax
    ? receiveWhole(writer, body, length, options)
    : receiveStream(writer, body, options, md5Thread);
}

/** Receives a body of up to `wholeBytesMax` that is too long for the record; writes it at once. */
async function receiveWhole(
  writer: ExtentWriter,
  body: Body,
  length: number,
  options: ReceiveOptions,
): Promise<ReceivedBody> {
  const bytes = await wholeOf(body, length);
  if (bytes.length !== length) throw new BodyLengthMismatch(bytes.length);
  const checksums = new BodyChecksums(options);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  const sink = new BodySink(writer, checksums, options, whole);
  try {
    return await describe(length, await sink.finish(), checksums);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

async function receiveStream(
  writer: ExtentWriter,
  body: Body,
  options: ReceiveOptions,
  md5Thread: Md5Source | undefined,
): Promise<ReceivedBody> {
  const { length = 0, lengthMax } = options;
  const thread = options.md5 && length >= threadBytesMin ? md5Thread : undefined;
  const checksums = new BodyChecksums(options, thread?.begin());
  const sink = new BodySink(writer, checksums, options);
  try {
    for await (const chunk of body) {
      if (sink.length + chunk.length > lengthMax) throw tooLarge(lengthMax);
      await sink.add(chunk);
      body.discard?.(chunk);
    }
    if (options.length !== undefined && length !== sink.length) {
      throw new BodyLengthMismatch(sink.length);
    }
    const pieces = await sink.finish();
    return await describe(sink.length, pieces, checksums);
  } catch (error) {
    checksums.abandon();
    await sink.abandon();
    throw error;
  }
}

/** Receives a body that fits into the record: the most common case, so it needs no `BodySink`. */
function receiveSmall(body: Body, length: number, options: ReceiveOptions): Promise<ReceivedBody> {
  return wholeOf(body, length).then((bytes) => describeSmall(bytes, length, options));
}

/** The bytes of a body, fewer than `length` if it is shorter than declared. */
function wholeOf(body: Body, length: number): Promise<Uint8Array> {
  return body.whole?.(length) ?? collect(body, length);
}

function describeSmall(
  bytes: Uint8Array,
  length: number,
  { md5, crc64 }: ReceiveOptions,
): ReceivedBody {
  if (bytes.length !== length) throw new BodyLengthMismatch(bytes.length);
  return {
    length,
    pieces: length === 0 ? [] : [{ length, source: { bytes } }],
    md5: md5 ? md5Of(bytes) : undefined,
    crc64: crc64 ? crc64BytesOf(bytes) : undefined,
  };
}

async function collect(body: Body, length: number): Promise<Uint8Array> {
  const bytes = newBytes(length);
  let filled = 0;
  for await (const chunk of body) {
    if (filled + chunk.length > length) throw new BodyLengthMismatch(filled + chunk.length);
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return filled < length ? bytes.subarray(0, filled) : bytes;
}

/** The body is shorter or longer than declared by its client: nothing of it is stored. */
export class BodyLengthMismatch extends Error {
  override readonly name = "BodyLengthMismatch";

  constructor(length: number) {
    super(`body has ${length} bytes, which is not the declared length`);
  }
}

function tooLarge(lengthMax: number): BodyTooLarge {
  return new BodyTooLarge(`body is longer than ${lengthMax} bytes`);
}

async function describe(
  length: number,
  pieces: readonly SliceSourceOfLength[],
  checksums: BodyChecksums,
): Promise<ReceivedBody> {
  const crc64 = checksums.crc64();
  return {
    length,
    pieces,
    md5: await checksums.md5(),
    crc64: crc64 === undefined ? undefined : crc64Bytes(crc64),
  };
}

/** How many buffers a body normally takes: one is filled from the network while the other one is
 *  written and hashed. */
const ownBuffersMax = 2;
/** How many buffers a body may take while at least `unusedBuffersMin` of the 96 buffers of the
 *  process are unused: more let the network run ahead of the disk. */
const buffersMax = 8;
const unusedBuffersMin = 48;
/** A body takes its second buffer only while this many are unused, so that others find a first. */
const firstBuffersMin = 24;
/** Smaller bodies are collected in one buffer of their length, and stored in packed extents, which
 *  leave no gaps between bodies. */
const largeBytesMin = otherBufferBytes;
/** Space that a body without a declared length reserves at a time: less would make more slices. */
const chunkReserveBytes = 4 * 1024 * 1024;

/** Reserved space of one extent, how many bytes of the body are written to it, and their CRC64. */
interface Piece {
  region: Region;
  filled: number;
  crc64: bigint | undefined;
}

/** A full buffer whose bytes are being written and hashed; then it can be filled again. */
interface BusyBuffer {
  readonly buffer: Buffer;
  readonly done: Promise<unknown>;
  isDone: boolean;
}

const noop = (): void => undefined;
const noBytes = Buffer.alloc(0);

/** Collects one body in memory, and writes it to extents when it is longer than its buffer. */
class BodySink {
  readonly #writer: ExtentWriter;
  readonly #checksums: BodyChecksums;
  readonly #options: ReceiveOptions;
  readonly #encrypt: ((bytes: Uint8Array) => Uint8Array) | undefined;
  readonly #pieces: Piece[] = [];
  #batch: Buffer;
  /** Whether the buffers are aligned to blocks, which writes past the system's cache require. */
  #isAligned = false;
  #filled = 0;
  /** The buffers that are being written, in the order of their bytes. */
  readonly #busy: BusyBuffer[] = [];
  /** Number of shared buffers that the body has taken; 0 while it is in a small one of its own. */
  #buffers = 0;
  /** The last write, which begins after all earlier ones: bytes are written in their order. */
  #writing: Promise<void> = Promise.resolve();
  length = 0;

  /** `whole` is the complete body if it is in memory already; `add` is not called then. */
  constructor(
    writer: ExtentWriter,
    checksums: BodyChecksums,
    options: ReceiveOptions,
    whole?: Buffer,
  ) {
    this.#writer = writer;
    this.#checksums = checksums;
    this.#options = options;
    const { encryption } = options;
    this.#encrypt = encryption && bodyCipher(encryption.key, encryption.nonce);
    this.#batch = whole ?? this.#emptyBuffer(options);
    if (whole !== undefined) this.length = this.#filled = whole.length;
  }

  #emptyBuffer({ length, inlineBytesMax }: ReceiveOptions): Buffer {
    const expected = Math.max(1, length ?? Math.max(inlineBytesMax, 16 * 1024));
    return expected < largeBytesMin ? Buffer.allocUnsafeSlow(expected) : this.#firstBuffer();
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.length += chunk.length;
    for (let from = 0; from < chunk.length;) {
      if (this.#filled === this.#batch.length) await this.#makeRoom();
      const count = Math.min(chunk.length - from, this.#batch.length - this.#filled);
      copyInto(this.#batch, chunk.subarray(from, from + count), this.#filled);
      this.#filled += count;
      from += count;
    }
  }

  /** Writes and flushes the remaining bytes. Returns where the bytes of the body are stored, in
   *  order. */
  async finish(): Promise<SliceSourceOfLength[]> {
    const bytes = this.#batch.subarray(0, this.#filled);
    if (
      this.length <= this.#options.inlineBytesMax &&
      this.#pieces.length + this.#busy.length === 0
    ) {
      this.#checksums.update(bytes, true);
      const stored = ownBytes(this.#encrypt?.(bytes) ?? bytes);
      await this.#checksums.hashed;
      this.#releaseBuffers();
      return this.#withCipher(
        stored.length === 0 ? [] : [{ length: stored.length, source: { bytes: stored } }],
      );
    }
    if (this.#busy.length === 0) {
      await this.#write(bytes, this.#checksums.update(bytes, true), true);
    } else {
      if (bytes.length > 0) this.#submit(bytes, true);
      await this.#writing;
    }
    this.#trimLast();
    // The last bytes are hashed while all are flushed.
    await this.#writer.sync(this.#pieces.map(({ region }) => region.extent));
    for (const { done } of this.#busy) await done;
    await this.#checksums.hashed;
    this.#releaseBuffers();
    return this.#withCipher(this.#pieces.map(describePiece));
  }

  /** Adds to each piece of an encrypted body what a reader needs to decrypt it: the nonce, the
   *  offset in the cipher stream and the encryption scope. */
  #withCipher(pieces: SliceSourceOfLength[]): SliceSourceOfLength[] {
    const { encryption } = this.#options;
    if (encryption === undefined) return pieces;
    const { nonce, scope } = encryption;
    let at = 0;
    return pieces.map(({ length, source }) => {
      const cipher = scope === undefined ? { nonce, at } : { nonce, at, scope };
      at += length;
      return { length, source: { ...source, cipher } };
    });
  }

  /** Called if receiving fails: frees buffers and reserved space after the writes in progress,
   *  which would otherwise write to memory or space that another body has. */
  async abandon(): Promise<void> {
    await this.#writing.catch(noop);
    await Promise.allSettled([this.#checksums.hashed, ...this.#busy.map(({ done }) => done)]);
    this.#releaseBuffers();
    for (const { region } of this.#pieces) this.#writer.freeRegion(region);
    this.#pieces.length = 0;
  }

  /** Called when the buffer is full: replaces a small one by a larger one, or writes it while the
   *  next one is filled. */
  async #makeRoom(): Promise<void> {
    if (this.#buffers === 0) {
      const grown = this.#firstBuffer();
      copyInto(grown, this.#batch, 0);
      this.#batch = grown;
      return;
    }
    this.#submit(this.#batch, false);
    const isOldestDone = this.#busy[0]?.isDone === true;
    this.#batch = (isOldestDone ? undefined : this.#newBuffer()) ?? (await this.#oldestBuffer());
    this.#filled = 0;
  }

  #firstBuffer(): Buffer {
    const buffer = acquireBuffer();
    this.#isAligned = isAligned(buffer);
    this.#buffers = 1;
    return buffer;
  }

  /** Returns an unused buffer, aligned if the first buffer of the body is: its extent requires it.
   *  Undefined if too few are unused: the body then waits for one of its own. */
  #newBuffer(): Buffer | undefined {
    if (this.#buffers === buffersMax) return undefined;
    const isExtra = this.#buffers >= ownBuffersMax;
    const mayBeAny = !isExtra && !this.#isAligned;
    const buffer = mayBeAny
      ? acquireBuffer()
      : acquireAligned(isExtra ? unusedBuffersMin : firstBuffersMin);
    if (buffer !== undefined) this.#buffers += 1;
    return buffer;
  }

  /** Waits for the oldest write of this body, and returns its buffer. */
  async #oldestBuffer(): Promise<Buffer> {
    const [oldest] = this.#busy;
    if (oldest === undefined) throw new Error("a body has no buffer");
    await oldest.done;
    this.#busy.shift();
    return oldest.buffer;
  }

  #submit(plain: Uint8Array, last: boolean): void {
    const crc64 = this.#checksums.update(plain, last);
    this.#writing = this.#writing.then(() => this.#write(plain, crc64, last));
    const done = Promise.all([this.#writing, this.#checksums.hashed]);
    const busy: BusyBuffer = { buffer: this.#batch, done, isDone: false };
    this.#busy.push(busy);
    // A failure is thrown where the promise is awaited; here it must not count as unhandled.
    done.then(() => (busy.isDone = true), noop);
  }

  async #write(plain: Uint8Array, plainCrc64: bigint | undefined, last: boolean): Promise<void> {
    const bytes = this.#encrypt?.(plain) ?? plain;
    // Compaction verifies the stored bytes, so the checksum is that of the encrypted ones.
    const crc64OfAll = bytes === plain ? plainCrc64 : crc64Of(bytes);
    for (let from = 0; from < bytes.length;) {
      const piece = await this.#pieceWithRoom(bytes.length - from, last);
      const count = Math.min(bytes.length - from, piece.region.length - piece.filled);
      const part = count === bytes.length ? bytes : bytes.subarray(from, from + count);
      await this.#writer.write(piece.region, part, piece.filled, this.#options.span);
      // A buffer that is split between two regions is read again: without a checksum, nothing would
      // ever find damage of these bytes.
      const isSplit = count < bytes.length && crc64OfAll !== undefined;
      const crc64 = isSplit ? crc64Of(part) : crc64OfAll;
      piece.crc64 = combinedCrc64(piece, crc64, count);
      piece.filled += count;
      from += count;
    }
  }

  /** Returns all buffers to the process, after their bytes are written and hashed. */
  #releaseBuffers(): void {
    for (const { buffer } of this.#busy) if (buffer !== this.#batch) releaseBuffer(buffer);
    releaseBuffer(this.#batch);
    this.#busy.length = 0;
    this.#batch = noBytes;
  }

  /** Returns reserved space for the next bytes. Space that directly follows the last piece extends
   *  it, so that the record needs one slice instead of two. */
  async #pieceWithRoom(length: number, last: boolean): Promise<Piece> {
    const current = this.#pieces.at(-1);
    if (current !== undefined && current.filled < current.region.length) return current;
    const reserved = this.#reserveBytes(length, last);
    const region = await this.#writer.reserve(
      reserved,
      this.#isStoredAligned(length) ? "aligned" : "packed",
    );
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

  /** Whether the body is stored in aligned extents: large ones are, unless they are encrypted or
   *  their buffers are not aligned. */
  #isStoredAligned(length: number): boolean {
    const isLarge = this.#pieces.length > 0 || (this.#options.length ?? length) >= largeBytesMin;
    return isLarge && this.#encrypt === undefined && this.#isAligned;
  }

  /** How much space to reserve: for the rest of the body if its length is known, so that its bytes
   *  are contiguous in the extent. */
  #reserveBytes(length: number, last: boolean): number {
    const { length: declaredLength } = this.#options;
    if (declaredLength === undefined) return last ? length : Math.max(length, chunkReserveBytes);
    let written = 0;
    for (const { filled } of this.#pieces) written += filled;
    const left = declaredLength - written;
    // A region that is not written at once must be longer than `wholeBytesMax`. Its unused end is
    // freed at the end of the body.
    return left > length ? Math.max(left, this.#writer.wholeBytesMax + 1) : length;
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

const algorithm = "aes-256-ctr";
const blockBytes = 16;

/** Encrypts a body with a client's key or that of an encryption scope, chunk by chunk from its
 *  start: AES-256 in counter mode, which keeps the length and can be decrypted from any offset, as
 *  reads of ranges require. */
export function bodyCipher(key: Uint8Array, nonce: bigint): (bytes: Uint8Array) => Uint8Array {
  const cipher = createCipheriv(algorithm, key, counterAt(nonce, 0));
  return (bytes) => cipher.update(bytes);
}

/** Decrypts bytes in place that begin at any offset of a body: `content/reader.ts` reads ranges. */
export function decryptAt(key: Uint8Array, { nonce, at }: SliceCipher, bytes: Uint8Array): void {
  const decipher = createDecipheriv(algorithm, key, counterAt(nonce, Math.floor(at / blockBytes)));
  const skipped = at % blockBytes;
  if (skipped > 0) decipher.update(new Uint8Array(skipped));
  bytes.set(decipher.update(bytes));
}

/** The initial counter block of AES: the nonce is its upper half, so two bodies with one key never
 *  share a block, which would reveal their difference. */
function counterAt(nonce: bigint, block: number): Uint8Array {
  const counter = new Uint8Array(blockBytes);
  const view = new DataView(counter.buffer);
  view.setBigUint64(0, nonce);
  view.setBigUint64(8, BigInt(block));
  return counter;
}
