import { sealBytes } from "../../store/encryption/cipher.ts";
import type { ExtentLayout } from "./extent-files.ts";
import { RegionAllocator, type ExtentRange, type Regions } from "./regions.ts";

/**
 * Where encrypted bytes are stored. Each region is encrypted in chunks, so that a range read
 * decrypts only those that it needs: a region of up to 64 KiB is one chunk, a longer one has chunks
 * of 16 KiB. The chunks of a region begin with it, and the last one is padded. To find the chunk of
 * any byte, an offset consists of bit fields, from the highest:
 *
 * | 23 bits          | 1 bit    | 28 bits                                                   |
 * |------------------|----------|-----------------------------------------------------------|
 * | position / 32    | 1: whole | 12 bits: length of the region / 32; 16 bits: byte in it   |
 * | position / 32    | 0: long  | byte in the region                                        |
 *
 * Offsets of one region therefore are consecutive, as slices expect, and ordered by position.
 *
 * Example: the third byte of a region of 100 bytes at position 64 has the offset
 * 2 · 2²⁹ + 2²⁸ + 4 · 2¹⁶ + 2. Its chunk takes 168 bytes: 128 and the seal of 40.
 */

const unitBytes = 32;
const wholeBytesMax = 64 * 1024;
/** Bytes of a chunk of a long region. */
const chunkBytes = 16 * 1024;
const positionFactor = 2 ** 29;
const wholeFlag = 2 ** 28;
const lengthFactor = 2 ** 16;
const positionMax = 2 ** 28;

/** The parts of an offset. */
interface SealedPlace {
  /** Position of the region. */
  readonly position: number;
  /** Number of the byte in the region, before encryption. */
  readonly at: number;
  /** Bytes of each chunk of the region, padding included. */
  readonly chunkBytes: number;
}

export function placeOf(offset: number): SealedPlace {
  const low = offset % positionFactor;
  const position = Math.floor(offset / positionFactor) * unitBytes;
  if (low < wholeFlag) return { position, at: low, chunkBytes };
  const units = Math.floor((low - wholeFlag) / lengthFactor);
  return { position, at: low % lengthFactor, chunkBytes: units * unitBytes };
}

function storedBytes(length: number): number {
  const bytes =
    length <= wholeBytesMax
      ? roundedUp(length, unitBytes) + sealBytes
      : Math.ceil(length / chunkBytes) * (chunkBytes + sealBytes);
  return roundedUp(bytes, unitBytes);
}

function roundedUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

function offsetAt(position: number, length: number): number {
  if (position >= positionMax || length >= wholeFlag) {
    throw new RangeError(`no region of ${length} bytes can begin at ${position}`);
  }
  const start = (position / unitBytes) * positionFactor;
  if (length > wholeBytesMax) return start;
  return start + wholeFlag + (roundedUp(length, unitBytes) / unitBytes) * lengthFactor;
}

function storedEnd(offset: number, length: number): number {
  const { position, at, chunkBytes: bytes } = placeOf(offset);
  const isWhole = offset % positionFactor >= wholeFlag;
  const chunks = isWhole ? 1 : Math.ceil((at + length) / bytes);
  return position + chunks * (bytes + sealBytes);
}

/** Allocates regions of encrypted bytes. */
class SealedRegions implements Regions {
  readonly #space: RegionAllocator;

  constructor(capacity: number) {
    this.#space = new RegionAllocator(Math.min(capacity, positionMax), unitBytes);
  }

  get tail(): number {
    return this.#space.tail;
  }

  /** In whole chunks: what follows in another region begins at a chunk again. */
  get bytesAfterTail(): number {
    const chunks = Math.floor(this.#space.bytesAfterTail / (chunkBytes + sealBytes));
    return chunks * chunkBytes > wholeBytesMax ? chunks * chunkBytes : 0;
  }

  allocate(length: number): ExtentRange | undefined {
    const range = this.#space.allocate(storedBytes(length));
    return range && { offset: offsetAt(range.offset, length), length };
  }

  free({ offset, length }: ExtentRange): void {
    const { position, at } = placeOf(offset);
    const from = at === 0 ? position : storedEnd(offset - at, at);
    this.#space.free({ offset: from, length: storedEnd(offset, length) - from });
  }
}

export const sealedLayout: ExtentLayout = {
  wholeBytesMax,
  newRegions: (capacity) => new SealedRegions(capacity),
  storedEnd,
};
