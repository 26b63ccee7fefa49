import type { Bucket } from "./bucket.ts";
import type { ExtentParts } from "./extent-parts.ts";
import { partBytesMax, partKey } from "./parts.ts";

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
      if (stretch.length === partBytesMax) await this.#upload(stretch);
      else this.#waiting.set(at + count, stretch);
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
    const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    const key = partKey(this.#extent, part);
    const running = this.#send(key, body).then(() => {
      this.#known.add(part);
      return void this.#running.delete(running);
    });
    this.#running.add(running);
    return running;
  }

  async #send(key: string, body: Uint8Array): Promise<void> {
    await this.#bucket.send({ method: "PUT", key, body }, [200]);
  }
}
