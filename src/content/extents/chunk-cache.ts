import { freeBytes } from "../../process/bytes.ts";
import { LruMap, RecentMap } from "../../process/memo.ts";
import { ReadOnce } from "../../process/read-once.ts";

/** Memory that a chunk takes beside its bytes: 570 to 700 bytes were measured, for the entry of the
 *  map, its key, the array and its buffer. */
const bytesPerEntry = 700;
/** Bytes of a short chunk, approximately. */
const bytesPerSlot = 8 * 1024;
/** The part of the limit for chunks that sequences of short reads are in. */
const sequencesShare = 1 / 8;
/** Limit of the sequences of short reads that are recognised. */
const sequencesMax = 1024;
/** Bits of the position of a chunk in an extent, which is shorter than 512 MiB. */
const positionBits = 29;
/** Bits of the number of an extent that are part of an id: as many as a number has beside. */
const extentBits = 24;

/** What a read takes of a chunk, as offsets in it. */
export interface ChunkPart {
  readonly from: number;
  readonly to: number;
}

/**
 * Decrypted chunks of encrypted extents (`encrypted-files.ts`), for contents that are read again
 * and again: the system's cache has the stored bytes, but not the plain ones.
 *
 * A chunk is kept when it is read for the second time, if no more than the cache can hold was read
 * in between: so a long download, or reads of more than fits, evict nothing.
 *
 * A read that begins where the last one of the chunk ended is no second one, but goes on: a
 * download by reads of 8 KiB takes a chunk of 64 KiB in eight. Such a chunk is kept apart, with few
 * others, until it is read to its end.
 *
 * All chunks belong to the cache, which frees their memory when it removes them. What `get` returns
 * is therefore valid only until the caller awaits or calls another method.
 */
export class ChunkCache {
  readonly #readAgain: LruMap<Uint8Array>;
  readonly #inSequence: LruMap<Uint8Array>;
  readonly #readOnce: ReadOnce;
  /** Where the last read of a chunk ended, if that was before the end of the chunk. */
  readonly #readTo = new RecentMap<number>(sequencesMax);

  constructor(bytesMax: number) {
    const options = { weigh: weightOf, onRemove: freeBytes };
    const sequenceBytesMax = bytesMax * sequencesShare;
    this.#readAgain = new LruMap({ weightMax: bytesMax - sequenceBytesMax, ...options });
    this.#inSequence = new LruMap({ weightMax: sequenceBytesMax, ...options });
    this.#readOnce = new ReadOnce({ bytesMax: bytesMax - sequenceBytesMax, bytesPerSlot });
  }

  get({ name }: ChunkId): Uint8Array | undefined {
    return this.#readAgain.get(name) ?? this.#inSequence.get(name);
  }

  /** Takes a chunk that was decrypted for a read and is not needed any more: keeps or frees it. */
  offer({ name, id }: ChunkId, chunk: Uint8Array, part: ChunkPart): void {
    if (this.#readAgain.get(name) !== undefined) freeBytes(chunk);
    else if (part.from > 0 && this.#readTo.get(name) === part.from) this.#goOn(name, chunk, part);
    else if (this.#readOnce.addOrFind(id, weightOf(chunk))) {
      this.#inSequence.delete(name);
      this.#readAgain.set(name, chunk);
    } else {
      if (part.to < chunk.length) this.#readTo.set(name, part.to);
      freeBytes(chunk);
    }
  }

  /** Called after a part of a chunk that `get` returned was read. */
  endRead({ name }: ChunkId, part: ChunkPart): void {
    const chunk = this.#inSequence.get(name);
    if (chunk !== undefined) this.#goOn(name, chunk, part);
  }

  /** Removes a chunk whose place is written again: that of a body that no record refers to. */
  remove({ name }: ChunkId): void {
    this.#readAgain.delete(name);
    this.#inSequence.delete(name);
    this.#readTo.delete(name);
  }

  #goOn(name: string, chunk: Uint8Array, { to }: ChunkPart): void {
    if (to < chunk.length) {
      this.#readTo.set(name, to);
      this.#inSequence.set(name, chunk);
    } else {
      this.#readTo.delete(name);
      this.#inSequence.delete(name);
      freeBytes(chunk);
    }
  }
}

function weightOf(chunk: Uint8Array): number {
  return chunk.length + bytesPerEntry;
}

/** Names a chunk: exactly, and by a number that few others have. */
interface ChunkId {
  readonly name: string;
  readonly id: number;
}

/** The ids of the chunks of one extent. */
export class ChunkIds {
  readonly #prefix: string;
  readonly #idOfFirst: number;

  constructor(extent: bigint) {
    this.#prefix = `${extent} `;
    this.#idOfFirst = Number(BigInt.asUintN(extentBits, extent)) * 2 ** positionBits;
  }

  at(position: number): ChunkId {
    return { name: this.#prefix + position, id: this.#idOfFirst + position };
  }
}
