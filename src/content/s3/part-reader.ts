import type { Span } from "../../base/span.ts";
import { ContentDamaged } from "../extents/extent-files.ts";
import type { BlockCache } from "./block-cache.ts";
import type { Bucket } from "./bucket.ts";
import { partKey, type Part } from "./parts.ts";
import { blockBytes, decodeBlocks, storedRange } from "./checksummed-blocks.ts";

/** Reads extents of a bucket for `open-s3-files.ts`, in whole blocks of 64 KiB, which can be
 *  verified and cached, even if a caller needs only a few bytes. */

/** Limit of the tries per read: bytes may be damaged in transit. If all fail, so is the object. */
const readTriesMax = 3;

/** Nothing is read ahead unless the cache has room for this many times as much: otherwise other
 *  reads would evict the blocks before they are used. */
const readAheadShare = 4;

/** A range of blocks of an object, by their numbers; `last` is included. */
interface BlockRange {
  readonly first: number;
  readonly last: number;
}

/** Reads ranges of parts (objects of an extent) in whole blocks, and verifies their checksums. */
export class PartReader {
  readonly #bucket: Bucket;
  readonly #cache: BlockCache;

  constructor(bucket: Bucket, cache: BlockCache) {
    this.#bucket = bucket;
    this.#cache = cache;
  }

  /** Fills `target` with the bytes of the part from offset `from` on. */
  async read(
    extent: bigint,
    part: Part,
    { from, target }: { readonly from: number; readonly target: Uint8Array },
    span?: Span,
  ): Promise<void> {
    const key = partKey(extent, part);
    const first = Math.floor(from / blockBytes);
    const last = Math.floor((from + target.length - 1) / blockBytes);
    const blocks = await Promise.all(this.#blocks(key, part, { first, last }, span));
    for (const [index, block] of blocks.entries()) {
      const start = (first + index) * blockBytes;
      const to = Math.min(block.length, from + target.length - start);
      target.set(block.subarray(Math.max(0, from - start), to), Math.max(0, start - from));
    }
  }

  /** Reads blocks into the cache before a sequential reader needs them, if the cache is large. */
  readAhead(extent: bigint, part: Part, from: number, length: number): void {
    if (!this.#cache.hasRoomFor(readAheadShare * length)) return;
    const first = Math.floor(from / blockBytes);
    const last = Math.floor((from + length - 1) / blockBytes);
    const key = partKey(extent, part);
    // The cache drops a failed block; the read that needs it tries again.
    for (const block of this.#blocks(key, part, { first, last })) block.catch(() => undefined);
  }

  /** Returns the blocks in order, from the cache or requested. Adjacent blocks that are not cached
   *  share a request. */
  #blocks(
    key: string,
    part: Part,
    { first, last }: BlockRange,
    span?: Span,
  ): readonly Promise<Uint8Array>[] {
    const found: Promise<Uint8Array>[] = [];
    for (let index = first; index <= last;) {
      const known = this.#cache.get(nameOf(key, index));
      if (known !== undefined) {
        found.push(known);
        index += 1;
        continue;
      }
      let end = index;
      while (end < last && this.#cache.get(nameOf(key, end + 1)) === undefined) end += 1;
      found.push(...this.#request(key, part, { first: index, last: end }, span));
      index = end + 1;
    }
    return found;
  }

  #request(key: string, part: Part, range: BlockRange, span?: Span): Promise<Uint8Array>[] {
    const { first, last } = range;
    const fetched = this.#fetch(key, part, range, span);
    return Array.from({ length: last - first + 1 }, (_, index) => {
      const block = fetched.then((blocks) => blocks[index] as Uint8Array);
      const length = Math.min(blockBytes, part.length - (first + index) * blockBytes);
      this.#cache.put(nameOf(key, first + index), length, block);
      return block;
    });
  }

  async #fetch(
    key: string,
    { length }: Part,
    { first, last }: BlockRange,
    span: Span | undefined,
  ): Promise<readonly Uint8Array[]> {
    const [from, to] = storedRange(length, first, last);
    const headers = { range: `bytes=${from}-${to}` };
    for (let tries = 0; tries < readTriesMax; tries += 1) {
      const request = { method: "GET", key, headers } as const;
      const { status, body } = await this.#bucket.send(request, [200, 206, 404], span && [span]);
      if (status === 404) throw new ContentDamaged(`${key} is missing`);
      // A service may return the whole object despite the range header.
      const found = body.length > to + 1 - from ? body.subarray(from, to + 1) : body;
      const blocks = decodeBlocks(key, first, found);
      if (blocks?.length === last + 1 - first) return blocks;
    }
    throw new ContentDamaged(`${key}: checksum mismatch in bytes ${from} to ${to}`);
  }
}

function nameOf(key: string, index: number): string {
  return `${key} ${index}`;
}
