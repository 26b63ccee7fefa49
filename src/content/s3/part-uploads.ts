import type { Bucket } from "./bucket.ts";
import type { ExtentParts } from "./extent-parts.ts";
import { partBytesMax, partKey, type Part } from "./parts.ts";
import { encodeBlocks } from "./checksummed-blocks.ts";

/** Of one extent; whoever writes more waits, so that memory is bounded. */
const uploadsAtOnceMax = 8;

/** Bytes that follow one another and are not uploaded yet. */
interface Stretch {
  readonly offset: number;
  readonly chunks: Uint8Array[];
  length: number;
}

/** Gathers what is written to an extent into parts. A stretch that is full goes at once; the rest
 *  goes when someone asks for it to be safe, and stretches that touch go together: many small
 *  bodies make one object. */
export class PartUploads {
  readonly #bucket: Bucket;
  readonly #extent: bigint;
  readonly #known: ExtentParts;
  /** By the place where the next bytes would be added. */
  readonly #waiting = new Map<number, Stretch>();
  readonly #running = new Set<Promise<void>>();
  #uploads = 0;
  readonly #inLine: (() => void)[] = [];

  constructor(bucket: Bucket, extent: bigint, known: ExtentParts) {
    this.#bucket = bucket;
    this.#extent = extent;
    this.#known = known;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const at = position + from;
      const stretch = this.#waiting.get(at) ?? { offset: at, chunks: [], length: 0 };
      this.#waiting.delete(at);
      const count = Math.min(bytes.length - from, partBytesMax - stretch.length);
      // The caller uses its buffer again.
      stretch.chunks.push(new Uint8Array(bytes.subarray(from, from + count)));
      stretch.length += count;
      from += count;
      if (stretch.length < partBytesMax) this.#waiting.set(at + count, stretch);
      else {
        // Not awaited: the next part fills meanwhile, and whoever flushes learns of a failure.
        void this.#upload(stretch).catch(() => undefined);
        await this.#turn();
      }
    }
  }

  /** Resolves when all that was written before is stored. */
  async flush(): Promise<void> {
    const waiting = [...this.#waiting.values()].toSorted((a, b) => a.offset - b.offset);
    this.#waiting.clear();
    const joined: Stretch[] = [];
    for (const next of waiting) {
      const last = joined.at(-1);
      const touches = last !== undefined && last.offset + last.length === next.offset;
      if (touches && last.length + next.length <= partBytesMax) {
        last.chunks.push(...next.chunks);
        last.length += next.length;
      } else joined.push(next);
    }
    for (const stretch of joined) void this.#upload(stretch).catch(() => undefined);
    const results = await Promise.allSettled(this.#running);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** One that failed stays in the list: no later flush of this extent can be believed. */
  #upload({ offset, length, chunks }: Stretch): Promise<void> {
    const part = { offset, length };
    const running = this.#send(part, chunks).then(() => {
      this.#known.add(part);
      return void this.#running.delete(running);
    });
    this.#running.add(running);
    return running;
  }

  async #send(part: Part, chunks: readonly Uint8Array[]): Promise<void> {
    this.#uploads += 1;
    try {
      const key = partKey(this.#extent, part);
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      await this.#bucket.send({ method: "PUT", key, body: encodeBlocks(key, bytes) }, [200]);
    } finally {
      this.#uploads -= 1;
      this.#inLine.shift()?.();
    }
  }

  /** Resolves when there is room for another upload. */
  async #turn(): Promise<void> {
    if (this.#uploads < uploadsAtOnceMax) return;
    await new Promise<void>((resolve) => this.#inLine.push(resolve));
  }
}
