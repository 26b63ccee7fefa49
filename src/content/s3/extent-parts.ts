import { ExtentTooShort } from "../extent-files.ts";
import type { Bucket } from "./bucket.ts";
import type { PartReader } from "./part-reader.ts";
import { listParts, partBytesMax } from "./parts.ts";
import type { Part } from "./parts.ts";

/** Reads of at least this many bytes are watched for sequential access. */
const longReadBytes = 512 * 1024;
const readAheadBytes = 2 * 1024 * 1024;
/** Concurrent sequential reads that are recognised. */
const endsMax = 16;

/** Where the parts of all extents are stored, and their reader. */
export interface ExtentLocator {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly reader: PartReader;
}

/** The known parts of an extent. No byte of an extent is written twice, so known parts stay valid,
 *  and only unknown ones must be listed. */
export class ExtentParts {
  readonly #locator: ExtentLocator;
  readonly #extent: bigint;
  /** Ordered by offset. */
  #parts: Part[] = [];
  /** End offsets of recent long reads: a read that continues at one of them is sequential, so the
   *  following blocks are read ahead. */
  readonly #ends: number[] = [];

  constructor(locator: ExtentLocator, extent: bigint) {
    this.#locator = locator;
    this.#extent = extent;
  }

  add(part: Part): void {
    const index = this.#lastBefore(part.offset) + 1;
    if (this.#parts[index - 1]?.offset !== part.offset) this.#parts.splice(index, 0, part);
  }

  /** Fills all of `bytes`. */
  async read(bytes: Uint8Array, position: number): Promise<void> {
    const parts = this.#covering(position, bytes.length) ?? (await this.#lookUp(bytes, position));
    const end = position + bytes.length;
    if (bytes.length >= longReadBytes) this.#readAhead(position, end);
    await Promise.all(
      parts.map(async (part) => {
        const from = Math.max(part.offset, position);
        const to = Math.min(part.offset + part.length, end);
        const target = bytes.subarray(from - position, to - position);
        await this.#locator.reader.read(this.#extent, part, from - part.offset, target);
      }),
    );
  }

  /** Reads ahead after a sequential read, within the known part. */
  #readAhead(position: number, end: number): void {
    const follows = this.#ends.indexOf(position);
    if (follows >= 0) this.#ends.splice(follows, 1);
    this.#ends.push(end);
    if (this.#ends.length > endsMax) this.#ends.shift();
    const [next] = (follows >= 0 ? this.#covering(end, 1) : undefined) ?? [];
    if (next === undefined) return;
    const length = Math.min(readAheadBytes, next.offset + next.length - end);
    this.#locator.reader.readAhead(this.#extent, next, end - next.offset, length);
  }

  async #lookUp(bytes: Uint8Array, position: number): Promise<readonly Part[]> {
    const end = position + bytes.length;
    const bounds = { from: position - partBytesMax, to: end };
    const { bucket, prefix } = this.#locator;
    for (const part of await listParts(bucket, prefix, this.#extent, bounds)) {
      this.add(part);
    }
    const found = this.#covering(position, bytes.length);
    if (found === undefined) throw new ExtentTooShort(`extent has a gap before offset ${end}`);
    return found;
  }

  /** The parts that cover a range; `undefined` if one is unknown. */
  #covering(position: number, length: number): readonly Part[] | undefined {
    const found: Part[] = [];
    let at = position;
    for (let index = this.#lastBefore(position); at < position + length; index += 1) {
      const part = this.#parts[index];
      if (part === undefined || part.offset > at || part.offset + part.length <= at) {
        return undefined;
      }
      found.push(part);
      at = part.offset + part.length;
    }
    return found;
  }

  /** Index of the last part that begins at or before `position`; -1 if there is none. */
  #lastBefore(position: number): number {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#parts[middle]?.offset ?? Infinity) <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
