import { blockBytes, bufferBytes } from "../../process/bytes.ts";
import { sealBytes } from "../../store/encryption/cipher.ts";
import type { ExtentLayout } from "./extent-files.ts";
import { RegionAllocator, type ExtentRange, type Regions } from "./regions.ts";

/**
 * Where encrypted bytes are stored (`encrypted-files.ts`). Each region is encrypted in chunks, so
 * that a range read decrypts only those that it needs. A region has one of three forms:
 *
 * - *whole*, up to 64 KiB: one chunk, after its seal (nonce and tag).
 * - *packed*: chunks of 16 KiB, each after its seal.
 * - *aligned*, in extents for aligned writes: groups of up to 8 chunks of 64 KiB. A group begins
 *   with a block of 4 KiB that contains its seals, so that a buffer of a body (512 KiB) becomes one
 *   aligned write.
 *
 * The last chunk of a region is padded with zeros, so that its length is known without that of the
 * region. To find the chunk of any byte, an offset consists of bit fields, from the highest:
 *
 * | 1 bit      | 23 bits       | 1 bit     | 28 bits                                         |
 * |------------|---------------|-----------|-------------------------------------------------|
 * | 0          | position / 32 | 1: whole  | length of the region / 32: 12 bits; byte in it  |
 * | 0          | position / 32 | 0: packed | byte in the region                              |
 * | 1: aligned | position / 32 | 0         | byte in the region                              |
 *
 * Offsets of one region therefore are consecutive, as slices expect, and ordered by position in an
 * extent, whose regions are all aligned or none of them.
 *
 * Examples: the third byte of a region of 100 bytes at position 64 has the offset
 * 2 · 2²⁹ + 2²⁸ + 4 · 2¹⁶ + 2; its chunk takes 168 bytes: 128 and the seal of 40. The byte 600,000
 * of an aligned region at position 0 is in the second chunk of its second group: the seal is at
 * 528,384 + 40, the chunk at 528,384 + 4,096 + 65,536.
 */

/** Regions begin at multiples of it. */
export const unitBytes = 32;
const wholeBytesMax = 64 * 1024;
/** Bytes of a chunk of a packed region. */
const packedChunkBytes = 16 * 1024;
/** Bytes of a chunk of an aligned region: longer ones, because each costs a cipher. */
const alignedChunkBytes = 64 * 1024;
/** Bytes of a group of an aligned region before encryption; every write but the last of a region
 *  has as many. */
export const groupBytes = bufferBytes;
/** Bytes that a group takes. */
const groupPitch = blockBytes + groupBytes;
const chunksPerGroup = groupBytes / alignedChunkBytes;

const alignedFlag = 2 ** 52;
const positionFactor = 2 ** 29;
const wholeFlag = 2 ** 28;
const lengthFactor = 2 ** 16;
const positionMax = 2 ** 28;

/** The parts of an offset. */
export interface SealedPlace {
  readonly position: number;
  /** Number of the byte in the region, before encryption. */
  readonly at: number;
  /** Bytes of each chunk of the region, padding included. */
  readonly chunkBytes: number;
  readonly isAligned: boolean;
  /** Whether the region is one chunk, which is written at once. */
  readonly isWhole: boolean;
}

export function placeOf(offset: number): SealedPlace {
  const isAligned = offset >= alignedFlag;
  const fields = isAligned ? offset - alignedFlag : offset;
  const low = fields % positionFactor;
  const position = Math.floor(fields / positionFactor) * unitBytes;
  const isWhole = !isAligned && low >= wholeFlag;
  if (isWhole) {
    const units = Math.floor((low - wholeFlag) / lengthFactor);
    const chunkBytes = units * unitBytes;
    return { position, at: low % lengthFactor, chunkBytes, isAligned, isWhole };
  }
  const chunkBytes = isAligned ? alignedChunkBytes : packedChunkBytes;
  return { position, at: low, chunkBytes, isAligned, isWhole };
}

/** The positions of a chunk and of its seal; `index` counts the chunks of the region. */
export function chunkPositions({ position, chunkBytes, isAligned }: SealedPlace, index: number) {
  if (!isAligned) {
    const seal = position + index * (chunkBytes + sealBytes);
    return { seal, chunk: seal + sealBytes };
  }
  const group = position + Math.floor(index / chunksPerGroup) * groupPitch;
  const inGroup = index % chunksPerGroup;
  return { seal: group + inGroup * sealBytes, chunk: group + blockBytes + inGroup * chunkBytes };
}

/** What must be read to open chunks of one region. */
export interface StoredRange {
  readonly start: number;
  readonly length: number;
  /** Where the seals of the first chunks are, if not in the range: an aligned region is read from
   *  within a group. Otherwise nothing. */
  readonly seals: { readonly start: number; readonly length: number };
}

/** Where the chunks from `first` to before `end` are. */
export function storedRange(place: SealedPlace, first: number, end: number): StoredRange {
  const { seal, chunk } = chunkPositions(place, first);
  const stop = chunkPositions(place, end - 1).chunk + place.chunkBytes;
  const isBeside = !place.isAligned || first % chunksPerGroup === 0;
  if (isBeside) return { start: seal, length: stop - seal, seals: { start: seal, length: 0 } };
  const count = Math.min(end - first, chunksPerGroup - (first % chunksPerGroup));
  const seals = { start: seal, length: count * sealBytes };
  return { start: chunk, length: stop - chunk, seals };
}

function storedBytes(length: number, isAligned: boolean): number {
  if (isAligned) {
    const chunks = Math.ceil(length / alignedChunkBytes);
    return Math.ceil(length / groupBytes) * blockBytes + chunks * alignedChunkBytes;
  }
  const bytes =
    length <= wholeBytesMax
      ? roundedUp(length, unitBytes) + sealBytes
      : Math.ceil(length / packedChunkBytes) * (packedChunkBytes + sealBytes);
  return roundedUp(bytes, unitBytes);
}

export function roundedUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

function offsetAt(position: number, length: number, isAligned: boolean): number {
  if (position >= positionMax || length >= wholeFlag) {
    throw new RangeError(`no region of ${length} bytes can begin at ${position}`);
  }
  const start = (position / unitBytes) * positionFactor;
  if (isAligned) return start + alignedFlag;
  if (length > wholeBytesMax) return start;
  return start + wholeFlag + (roundedUp(length, unitBytes) / unitBytes) * lengthFactor;
}

function storedEnd(offset: number, length: number): number {
  const place = placeOf(offset);
  const { at, chunkBytes, isWhole } = place;
  const chunks = isWhole ? 1 : Math.ceil((at + length) / chunkBytes);
  return chunkPositions(place, chunks - 1).chunk + chunkBytes;
}

/** Allocates regions of encrypted bytes. */
class SealedRegions implements Regions {
  readonly #space: RegionAllocator;
  readonly #isAligned: boolean;

  constructor(capacity: number, isAligned: boolean) {
    const unit = isAligned ? blockBytes : unitBytes;
    this.#space = new RegionAllocator(Math.min(capacity, positionMax), unit);
    this.#isAligned = isAligned;
  }

  get tail(): number {
    return this.#space.tail;
  }

  /** In whole groups or chunks, because bytes that follow in another region begin with a new
   *  one. */
  get bytesAfterTail(): number {
    const { bytesAfterTail } = this.#space;
    if (this.#isAligned) return Math.floor(bytesAfterTail / groupPitch) * groupBytes;
    const bytes = Math.floor(bytesAfterTail / (packedChunkBytes + sealBytes)) * packedChunkBytes;
    return bytes > wholeBytesMax ? bytes : 0;
  }

  allocate(length: number): ExtentRange | undefined {
    const range = this.#space.allocate(storedBytes(length, this.#isAligned));
    return range && { offset: offsetAt(range.offset, length, this.#isAligned), length };
  }

  free({ offset, length }: ExtentRange): void {
    const { position, at } = placeOf(offset);
    const from = at === 0 ? position : storedEnd(offset - at, at);
    this.#space.free({ offset: from, length: storedEnd(offset, length) - from });
  }
}

export const sealedLayout: ExtentLayout = {
  wholeBytesMax,
  alignedExtentBytesMin: 4 * groupPitch,
  newRegions: (capacity, isAligned) => new SealedRegions(capacity, isAligned),
  storedEnd,
};
