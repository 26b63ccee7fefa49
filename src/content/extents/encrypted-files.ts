import { sealBytes, SealBroken, type Cipher } from "../../store/encryption/cipher.ts";
import {
  ContentDamaged,
  type ExtentFile,
  type ExtentFiles,
  type ExtentLayout,
} from "./extent-files.ts";
import { RegionAllocator, type ExtentRange, type Regions } from "./regions.ts";

/** Encrypts extents: `data/storage-backends.ts` wraps the files of an encrypted store with it. A
 *  chunk is encrypted for its position, so that bytes that were moved or changed on the disk cannot
 *  be read. */

/** Wraps `files` so that bytes are encrypted in chunks, each for its position in its extent. It
 *  offers no aligned extents, because those take buffers unchanged, and no spare space (for
 *  compaction on a full disk), because only whole regions could be moved into it. */
export function encryptedFiles(files: ExtentFiles, cipher: Cipher): ExtentFiles {
  const { blockBytes: _, spare: __, ...rest } = files;
  return {
    ...rest,
    layout: sealedLayout,
    create: async (extent) => encryptedFile(await files.create(extent), extent, cipher),
    open: async (extent) => encryptedFile(await files.open(extent), extent, cipher),
  };
}

function encryptedFile(file: ExtentFile, extent: bigint, cipher: Cipher): ExtentFile {
  const canShorten = file.shorten !== undefined;
  return {
    sync: () => file.sync(),
    close: () => file.close(),
    ...(canShorten && { shorten: (bytes: number) => file.shorten?.(bytes) }),
    write(bytes, offset, span) {
      const { position, at, chunkBytes } = placeOf(offset);
      if (at % chunkBytes !== 0) throw new Error(`encrypted bytes begin inside a chunk at ${at}`);
      const pitch = chunkBytes + sealBytes;
      const start = position + (at / chunkBytes) * pitch;
      const count = Math.ceil(bytes.length / chunkBytes);
      const sealed = Buffer.allocUnsafeSlow(count * pitch);
      for (let index = 0; index < count; index += 1) {
        const target = sealed.subarray(index * pitch, (index + 1) * pitch);
        const chunk = padded(bytes, index * chunkBytes, chunkBytes);
        cipher.sealInto(target, "content", placeBytes(extent, start + index * pitch), chunk);
      }
      return file.write(sealed, start, span);
    },
    async read(bytes, offset, span) {
      const { position, at, chunkBytes } = placeOf(offset);
      const pitch = chunkBytes + sealBytes;
      const first = Math.floor(at / chunkBytes);
      const end = Math.ceil((at + bytes.length) / chunkBytes);
      const sealed = Buffer.allocUnsafeSlow((end - first) * pitch);
      const start = position + first * pitch;
      await file.read(sealed, start, span);
      for (let index = 0; index < end - first; index += 1) {
        const chunk = openChunk(sealed.subarray(index * pitch, (index + 1) * pitch), {
          cipher,
          extent,
          position: start + index * pitch,
        });
        // Copies the requested part of the chunk, which begins `from` bytes after the request.
        const from = (first + index) * chunkBytes - at;
        const part = chunk.subarray(Math.max(0, -from), Math.min(chunkBytes, bytes.length - from));
        bytes.set(part, Math.max(0, from));
      }
    },
  };
}

/** The plain bytes of a chunk; zeros fill the last one of a region, because all have one length. */
function padded(bytes: Uint8Array, from: number, length: number): Uint8Array {
  const chunk = bytes.subarray(from, from + length);
  if (chunk.length === length) return chunk;
  const whole = new Uint8Array(length);
  whole.set(chunk);
  return whole;
}

interface ChunkPlace {
  readonly cipher: Cipher;
  readonly extent: bigint;
  readonly position: number;
}

function openChunk(sealed: Uint8Array, { cipher, extent, position }: ChunkPlace): Uint8Array {
  try {
    return cipher.open("content", placeBytes(extent, position), sealed);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    const where = `position ${position} of extent ${extent.toString(16)}`;
    throw new ContentDamaged(`${where}: ${error.message}`, { cause: error });
  }
}

function placeBytes(extent: bigint, position: number): Uint8Array {
  const place = Buffer.allocUnsafe(16);
  place.writeBigUInt64BE(extent);
  place.writeBigUInt64BE(BigInt(position), 8);
  return place;
}

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
/** Plain bytes of a chunk in a region of more than `wholeBytesMax`. */
const chunkBytes = 16 * 1024;
const positionFactor = 2 ** 29;
const wholeFlag = 2 ** 28;
const lengthFactor = 2 ** 16;
const positionMax = 2 ** 28;

/** An offset of an encrypted extent, decoded from its bit fields. */
interface SealedPlace {
  readonly position: number;
  /** Which byte of the region it is, counted before encryption. */
  readonly at: number;
  /** Plain bytes of each chunk of the region, padding included. */
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

/** Allocates regions of an encrypted extent: the space of a region is longer than its plain bytes,
 *  and its offset has the form above. */
class SealedRegions implements Regions {
  readonly #space: RegionAllocator;

  constructor(capacity: number) {
    this.#space = new RegionAllocator(Math.min(capacity, positionMax), unitBytes);
  }

  get tail(): number {
    return this.#space.tail;
  }

  /** Plain bytes of the whole chunks that fit, because a region always begins with a new chunk. */
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
