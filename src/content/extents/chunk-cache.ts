import { freeBytes } from "../../process/bytes.ts";
import { LruMap, RecentMap } from "../../process/memo.ts";

/** Memory that a chunk takes beside its bytes, approximately. */
const bytesPerEntry = 256;
/** A chunk that was read once counts as at least so many bytes, which bounds how many are
 *  remembered. */
const readOnceBytesMin = 8 * 1024;

/** Decrypted chunks of encrypted extents (`encrypted-files.ts`), for contents that are read again
 *  and again: as long as decrypting takes, the system's cache has the stored bytes at hand, but not
 *  the plain ones. A chunk is kept when it is read for the second time, and no more than the cache
 *  can hold was read in between: so a long download, or reads of more than fits, evict nothing. */
export class ChunkCache {
  readonly #chunks: LruMap<Uint8Array>;
  /** The chunks that were read once, with their lengths. */
  readonly #readOnce: RecentMap<number>;

  constructor(bytesMax: number) {
    this.#chunks = new LruMap({
      weightMax: bytesMax,
      weigh: (chunk) => chunk.length + bytesPerEntry,
      // Nothing reads it any more: readers copy what they need without waiting.
      onRemove: freeBytes,
    });
    this.#readOnce = new RecentMap(bytesMax, {
      weigh: (_, bytes) => Math.max(bytes, readOnceBytesMin),
    });
  }

  get(name: string): Uint8Array | undefined {
    return this.#chunks.get(name);
  }

  /** Takes a decrypted chunk that its reader does not need any more: keeps or frees it. */
  offer(name: string, chunk: Uint8Array): void {
    if (this.#readOnce.get(name) === undefined) {
      this.#readOnce.set(name, chunk.length);
      freeBytes(chunk);
    } else this.#chunks.set(name, chunk);
  }

  /** Removes a chunk whose place is written again: that of a body that no record refers to. */
  remove(name: string): void {
    this.#chunks.delete(name);
  }
}
