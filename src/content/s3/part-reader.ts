import { ContentDamaged } from "../extent-files.ts";
import type { BlockCache } from "./block-cache.ts";
import type { Bucket } from "./bucket.ts";
import { partKey, type Part } from "./parts.ts";
import { blockBytes, decodeBlocks, sealedRange } from "./checksummed-blocks.ts";

/** Bytes may be damaged on their way; what is still wrong then is wrong in the store. */
const readTriesMax = 3;

/** So that what is read ahead is not driven out before it is wanted. */
const preparedRoom = 4;

/** Reads stretches of parts, by whole blocks, each held against its checksum. */
export class PartReader {
  readonly #bucket: Bucket;
  readonly #cache: BlockCache;

  constructor(bucket: Bucket, cache: BlockCache) {
    this.#bucket = bucket;
    this.#cache = cache;
  }

  /** Fills `target` with what lies at `from` in the part. */
  async read(extent: bigint, part: Part, from: number, target: Uint8Array): Promise<void> {
    const key = partKey(extent, part);
    const first = Math.floor(from / blockBytes);
    const last = Math.floor((from + target.length - 1) / blockBytes);
    const blocks = await Promise.all(this.#blocks(key, part, first, last));
    for (const [index, block] of blocks.entries()) {
      const start = (first + index) * blockBytes;
      const to = Math.min(block.length, from + target.length - start);
      target.set(block.subarray(Math.max(0, from - start), to), Math.max(0, start - from));
    }
  }

  /** Brings what will be asked for soon into the cache, if that can hold it. */
  prepare(extent: bigint, part: Part, from: number, length: number): void {
    if (!this.#cache.hasRoomFor(preparedRoom * length)) return;
    const first = Math.floor(from / blockBytes);
    const last = Math.floor((from + length - 1) / blockBytes);
    const key = partKey(extent, part);
    // Whoever asks for it learns of a failure.
    for (const block of this.#blocks(key, part, first, last)) block.catch(() => undefined);
  }

  /** One request for every run of blocks that are not at hand. */
  #blocks(key: string, part: Part, first: number, last: number): readonly Promise<Uint8Array>[] {
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
      found.push(...this.#request(key, part, index, end));
      index = end + 1;
    }
    return found;
  }

  #request(key: string, part: Part, first: number, last: number): Promise<Uint8Array>[] {
    const fetched = this.#fetch(key, part, first, last);
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
    first: number,
    last: number,
  ): Promise<readonly Uint8Array[]> {
    const [from, to] = sealedRange(length, first, last);
    const headers = { range: `bytes=${from}-${to}` };
    for (let tries = 0; tries < readTriesMax; tries += 1) {
      const request = { method: "GET", key, headers } as const;
      const { status, body } = await this.#bucket.send(request, [200, 206, 404]);
      if (status === 404) throw new ContentDamaged(`${key} is missing`);
      // A store may answer with all of an object whatever was asked for.
      const found = body.length > to + 1 - from ? body.subarray(from, to + 1) : body;
      const blocks = decodeBlocks(key, first, found);
      if (blocks?.length === last + 1 - first) return blocks;
    }
    throw new ContentDamaged(`${key} is not what was written, at ${from} to ${to}`);
  }
}

function nameOf(key: string, index: number): string {
  return `${key} ${index}`;
}
