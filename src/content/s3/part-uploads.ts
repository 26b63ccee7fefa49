import type { Bucket } from "./bucket.ts";
import type { ExtentParts } from "./extent-parts.ts";
import { partBytesMax, partKey, type Part } from "./parts.ts";
import { encodeBlocks } from "./checksummed-blocks.ts";

/** Concurrent uploads per extent; further writes wait, which bounds memory. */
const concurrentUploadsMax = 8;

/** Contiguous bytes that are not uploaded yet. */
interface UploadBuffer {
  readonly offset: number;
  readonly chunks: Uint8Array[];
  length: number;
}

/** Collects the bytes written to an extent into parts. A full part is uploaded at once, the others
 *  at the next flush. Adjacent ones are merged, so that many small bodies become one object. */
export class PartUploads {
  readonly #bucket: Bucket;
  readonly #extent: bigint;
  readonly #known: ExtentParts;
  /** By their end offset, at which the next bytes are appended. */
  readonly #buffers = new Map<number, UploadBuffer>();
  readonly #running = new Set<Promise<void>>();
  #uploads = 0;
  readonly #slotQueue: (() => void)[] = [];

  constructor(bucket: Bucket, extent: bigint, known: ExtentParts) {
    this.#bucket = bucket;
    this.#extent = extent;
    this.#known = known;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const at = position + from;
      const buffer = this.#buffers.get(at) ?? { offset: at, chunks: [], length: 0 };
      this.#buffers.delete(at);
      const count = Math.min(bytes.length - from, partBytesMax - buffer.length);
      // A copy: the caller reuses its buffer.
      buffer.chunks.push(new Uint8Array(bytes.subarray(from, from + count)));
      buffer.length += count;
      from += count;
      if (buffer.length < partBytesMax) this.#buffers.set(at + count, buffer);
      else {
        // Not awaited: the next part is filled meanwhile, and `flush` throws the error.
        void this.#upload(buffer).catch(() => undefined);
        await this.#waitForSlot();
      }
    }
  }

  /** Resolves when everything written before the call is stored. */
  async flush(): Promise<void> {
    const buffers = [...this.#buffers.values()].toSorted((a, b) => a.offset - b.offset);
    this.#buffers.clear();
    const joined: UploadBuffer[] = [];
    for (const next of buffers) {
      const last = joined.at(-1);
      const isAdjacent = last !== undefined && last.offset + last.length === next.offset;
      if (isAdjacent && last.length + next.length <= partBytesMax) {
        last.chunks.push(...next.chunks);
        last.length += next.length;
      } else joined.push(next);
    }
    for (const buffer of joined) void this.#upload(buffer).catch(() => undefined);
    const results = await Promise.allSettled(this.#running);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** A failed upload stays in `#running`, so that all later flushes of this extent fail. */
  #upload({ offset, length, chunks }: UploadBuffer): Promise<void> {
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
      this.#slotQueue.shift()?.();
    }
  }

  /** Resolves when another upload may start. */
  async #waitForSlot(): Promise<void> {
    if (this.#uploads < concurrentUploadsMax) return;
    await new Promise<void>((resolve) => this.#slotQueue.push(resolve));
  }
}
