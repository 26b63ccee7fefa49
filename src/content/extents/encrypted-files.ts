import type { Span } from "../../base/span.ts";
import { blockBytes, freeBytes } from "../../process/bytes.ts";
import {
  sealBytes,
  SealBroken,
  type Cipher,
  type SealedParts,
} from "../../store/encryption/cipher.ts";
import { ChunkCache, ChunkIds, type ChunkPart } from "./chunk-cache.ts";
import {
  ContentDamaged,
  type CacheUse,
  type ExtentFile,
  type ExtentFiles,
  type ReadOptions,
} from "./extent-files.ts";
import {
  returnAligned,
  returnBuffer,
  takeAligned,
  takeBuffer,
} from "../../process/sealed-buffers.ts";
import {
  chunkPositions,
  groupBytes,
  placeOf,
  roundedUp,
  sealedLayout,
  storedRange,
  unitBytes,
  type SealedPlace,
  type StoredRange,
} from "./sealed-layout.ts";

/** Encrypts extents: `data/storage-backends.ts` wraps the files of an encrypted store with it. A
 *  chunk is encrypted for its position (`sealed-layout.ts`), so that bytes that were moved or
 *  changed on the disk cannot be read. */

/** Extents whose bytes are encrypted in chunks, each for its position. Up to `cachedBytesMax` bytes
 *  of decrypted chunks are kept in memory. There is no spare space, because only whole regions
 *  could be moved into it. */
export function encryptedFiles(
  files: ExtentFiles,
  cipher: Cipher,
  cachedBytesMax = 0,
): ExtentFiles {
  const { spare: _, ...rest } = files;
  const cache = cachedBytesMax > 0 ? new ChunkCache(cachedBytesMax) : undefined;
  const encrypted = (file: ExtentFile, extent: bigint): ExtentFile => {
    const chunks = new EncryptedChunks(extent, { file, cipher, cache });
    const canShorten = file.shorten !== undefined;
    return {
      sync: () => file.sync(),
      close: () => file.close(),
      ...(canShorten && { shorten: (bytes: number) => file.shorten?.(bytes) }),
      write: (bytes, offset, span) => chunks.write(bytes, offset, span),
      read: (bytes, offset, options) => chunks.read(bytes, offset, options),
    };
  };
  return {
    ...rest,
    layout: sealedLayout,
    create: async (extent, isAligned) => encrypted(await files.create(extent, isAligned), extent),
    open: async (extent) => encrypted(await files.open(extent), extent),
  };
}

/** What `EncryptedChunks` works with. */
interface ChunkParts {
  readonly file: ExtentFile;
  readonly cipher: Cipher;
  readonly cache: ChunkCache | undefined;
}

/** The chunks of a region from `first` to before `end`. */
interface ChunkRange {
  readonly place: SealedPlace;
  readonly first: number;
  readonly end: number;
}

/** The chunks of one extent. */
class EncryptedChunks {
  readonly #file: ExtentFile;
  readonly #extent: bigint;
  readonly #cipher: Cipher;
  readonly #cache: ChunkCache | undefined;
  /** Of the chunks in the cache. */
  readonly #ids: ChunkIds;
  /** Extent and position of a chunk, which are authenticated with it. */
  readonly #place = Buffer.alloc(16);

  constructor(extent: bigint, { file, cipher, cache }: ChunkParts) {
    this.#file = file;
    this.#extent = extent;
    this.#cipher = cipher;
    this.#cache = cache;
    this.#ids = new ChunkIds(extent);
    this.#place.writeBigUInt64BE(extent);
  }

  async write(bytes: Uint8Array, offset: number, span: Span | undefined): Promise<void> {
    const place = placeOf(offset);
    const { at, chunkBytes, isAligned } = place;
    const unit = isAligned ? groupBytes : chunkBytes;
    if (at % unit !== 0) throw new Error(`encrypted bytes begin inside a chunk at ${at}`);
    if (!isAligned) return this.#writePacked(bytes, place, span);
    for (let from = 0; from < bytes.length; from += groupBytes) {
      const group = bytes.subarray(from, from + groupBytes);
      await this.#writeGroup(group, { ...place, at: at + from }, span);
    }
  }

  async #writePacked(bytes: Uint8Array, place: SealedPlace, span: Span | undefined): Promise<void> {
    const { at, chunkBytes, isWhole } = place;
    const first = at / chunkBytes;
    const count = Math.ceil(bytes.length / chunkBytes);
    const pitch = chunkBytes + sealBytes;
    // With the zeros up to the next region: many small bodies become one object of S3 only if there
    // is no gap between them.
    const length = isWhole ? roundedUp(pitch, unitBytes) : count * pitch;
    const buffer = takeBuffer(length);
    try {
      const sealed = buffer.subarray(0, length).fill(0, count * pitch);
      const { seal: start } = chunkPositions(place, first);
      for (let index = 0; index < count; index += 1) {
        const from = index * chunkBytes;
        const seal = sealed.subarray(index * pitch, (index + 1) * pitch);
        const encrypted = seal.subarray(sealBytes);
        const { chunk } = chunkPositions(place, first + index);
        this.#seal(bytes.subarray(from, from + chunkBytes), chunk, { seal, encrypted });
      }
      await this.#file.write(sealed, start, span);
    } finally {
      returnBuffer(buffer);
    }
  }

  /** Writes a group of chunks with the block of their seals. */
  async #writeGroup(bytes: Uint8Array, place: SealedPlace, span: Span | undefined): Promise<void> {
    const { at, chunkBytes } = place;
    const first = at / chunkBytes;
    const { seal: start } = chunkPositions(place, first);
    const count = Math.ceil(bytes.length / chunkBytes);
    const taken = takeAligned();
    const buffer = taken instanceof Promise ? await taken : taken;
    try {
      buffer.fill(0, 0, blockBytes);
      for (let index = 0; index < count; index += 1) {
        const from = index * chunkBytes;
        const { seal, chunk } = chunkPositions(place, first + index);
        this.#seal(bytes.subarray(from, from + chunkBytes), chunk, {
          seal: buffer.subarray(seal - start, seal - start + sealBytes),
          encrypted: buffer.subarray(chunk - start, chunk - start + chunkBytes),
        });
      }
      const length = blockBytes + count * chunkBytes;
      await this.#file.write(buffer.subarray(0, length), start, span);
    } finally {
      returnAligned(buffer);
    }
  }

  async read(bytes: Uint8Array, offset: number, options: ReadOptions = {}): Promise<void> {
    const place = placeOf(offset);
    const { at, chunkBytes } = place;
    const first = Math.floor(at / chunkBytes);
    const end = Math.ceil((at + bytes.length) / chunkBytes);
    const chunks = { place, first, end };
    if (options.cacheUse !== undefined && this.#readCached(bytes, chunks, options.cacheUse)) return;
    const cache = options.cacheUse === "full" ? this.#cache : undefined;
    const range = storedRange(place, first, end);
    const { start, length, seals } = range;
    const buffer = takeBuffer(length + seals.length);
    try {
      const stored = buffer.subarray(0, length);
      const header = buffer.subarray(length, length + seals.length);
      await this.#readBoth(range, { stored, header }, options);
      for (let index = first; index < end; index += 1) {
        const { seal, chunk } = chunkPositions(place, index);
        const [from, origin] = seal < start ? [header, seals.start] : [stored, start];
        const opened = this.#open(chunk, {
          seal: from.subarray(seal - origin, seal - origin + sealBytes),
          encrypted: stored.subarray(chunk - start, chunk - start + chunkBytes),
        });
        const part = copyPart(bytes, opened, at - index * chunkBytes);
        if (cache === undefined) freeBytes(opened);
        else cache.offer(this.#ids.at(chunk), opened, part);
      }
    } finally {
      returnBuffer(buffer);
    }
  }

  /** Fills `bytes` from the cache; false, and nothing is done, if a chunk is not in it. Does not
   *  await: the cache frees chunks that it evicts for other reads. */
  #readCached(bytes: Uint8Array, { place, first, end }: ChunkRange, use: CacheUse): boolean {
    const cache = this.#cache;
    if (cache === undefined) return false;
    const ids = [];
    const chunks: Uint8Array[] = [];
    for (let index = first; index < end; index += 1) {
      const id = this.#ids.at(chunkPositions(place, index).chunk);
      const chunk = cache.get(id);
      if (chunk === undefined) return false;
      ids.push(id);
      chunks.push(chunk);
    }
    const parts = chunks.map((chunk, index) =>
      copyPart(bytes, chunk, place.at - (first + index) * place.chunkBytes),
    );
    if (use === "look-up") return true;
    // Only now: it may free a chunk.
    for (const [index, id] of ids.entries()) cache.endRead(id, parts[index]!);
    return true;
  }

  /** Reads chunks, and their seals if those are not beside them. Ends after both reads: the buffer
   *  is used again. */
  async #readBoth(
    { start, seals }: StoredRange,
    { stored, header }: { readonly stored: Buffer; readonly header: Buffer },
    options: ReadOptions,
  ): Promise<void> {
    if (header.length === 0) return this.#file.read(stored, start, options);
    const reads = await Promise.allSettled([
      this.#file.read(stored, start, options),
      this.#file.read(header, seals.start, options),
    ]);
    for (const each of reads) if (each.status === "rejected") throw each.reason;
  }

  #seal(plain: Uint8Array, position: number, sealed: SealedParts): void {
    this.#cache?.remove(this.#ids.at(position));
    this.#cipher.sealInto(sealed, "content", { place: this.#placeBytes(position), plain });
  }

  #open(position: number, sealed: SealedParts): Uint8Array {
    try {
      return this.#cipher.openParts("content", this.#placeBytes(position), sealed);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      const where = `position ${position} of extent ${this.#extent.toString(16)}`;
      throw new ContentDamaged(`${where}: ${error.message}`, { cause: error });
    }
  }

  /** Valid until the next call. */
  #placeBytes(position: number): Uint8Array {
    this.#place.writeUInt32BE(Math.floor(position / 2 ** 32), 8);
    this.#place.writeUInt32BE(position % 2 ** 32, 12);
    return this.#place;
  }
}

/** Copies the part of a chunk that was requested, and returns it; `bytes` begin at `start` in the
 *  chunk, before it if that is negative. */
function copyPart(bytes: Uint8Array, chunk: Uint8Array, start: number): ChunkPart {
  const from = Math.max(0, start);
  const to = Math.min(chunk.length, start + bytes.length);
  bytes.set(chunk.subarray(from, to), from - start);
  return { from, to };
}
