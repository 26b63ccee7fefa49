import { ExtentTooShort } from "../extent-files.ts";
import type { Bucket } from "./bucket.ts";
import type { PartReader } from "./part-reader.ts";
import { listParts, partBytesMax } from "./parts.ts";
import type { Part } from "./parts.ts";

const longReadBytes = 512 * 1024;
const aheadBytes = 2 * 1024 * 1024;
const endsMax = 16;

export interface ExtentPlace {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly reader: PartReader;
}

/** What is known of an extent's parts; no byte of an extent is written twice, so what is known once
 *  stays true, and only what is missing has to be asked for. */
export class ExtentParts {
  readonly #place: ExtentPlace;
  readonly #extent: bigint;
  /** By offset, in order. */
  #parts: Part[] = [];
  /** Where long reads have ended lately: whoever goes on there reads all that follows, too. */
  readonly #ends: number[] = [];

  constructor(place: ExtentPlace, extent: bigint) {
    this.#place = place;
    this.#extent = extent;
  }

  add(part: Part): void {
    const index = this.#lastBefore(part.offset) + 1;
    if (this.#parts[index - 1]?.offset !== part.offset) this.#parts.splice(index, 0, part);
  }

  /** Fills all of `bytes`. */
  async read(bytes: Uint8Array, position: number): Promise<void> {
    const wanted = this.#covering(position, bytes.length) ?? (await this.#lookUp(bytes, position));
    const end = position + bytes.length;
    if (bytes.length >= longReadBytes) this.#readAhead(position, end);
    await Promise.all(
      wanted.map(async (part) => {
        const from = Math.max(part.offset, position);
        const to = Math.min(part.offset + part.length, end);
        const target = bytes.subarray(from - position, to - position);
        await this.#place.reader.read(this.#extent, part, from - part.offset, target);
      }),
    );
  }

  /** Fetches what will be asked for next, if it is known where it lies. */
  #readAhead(position: number, end: number): void {
    const follows = this.#ends.indexOf(position);
    if (follows >= 0) this.#ends.splice(follows, 1);
    this.#ends.push(end);
    if (this.#ends.length > endsMax) this.#ends.shift();
    const [next] = (follows >= 0 ? this.#covering(end, 1) : undefined) ?? [];
    if (next === undefined) return;
    const length = Math.min(aheadBytes, next.offset + next.length - end);
    this.#place.reader.prepare(this.#extent, next, end - next.offset, length);
  }

  async #lookUp(bytes: Uint8Array, position: number): Promise<readonly Part[]> {
    const end = position + bytes.length;
    const bounds = { from: position - partBytesMax, to: end };
    const { bucket, prefix } = this.#place;
    for (const part of await listParts(bucket, prefix, this.#extent, bounds)) {
      this.add(part);
    }
    const found = this.#covering(position, bytes.length);
    if (found === undefined) throw new ExtentTooShort(`an extent has a gap before ${end}`);
    return found;
  }

  /** The parts that together hold a stretch, if all of them are known. */
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

  /** The index of the last part that begins at `position` or before, or -1. */
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
