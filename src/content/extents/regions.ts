import { ensure } from "../../protocol/result.ts";

/** The space of one extent (a file that many contents share) while it is written: which ranges
 *  belong to bodies and which are free. `extent-writer.ts` asks it for regions. */

/** A range of bytes of an extent. */
export interface ExtentRange {
  readonly offset: number;
  readonly length: number;
}

/** Limit of the freed ranges that are kept for reuse, those with the lowest offsets, so that a
 *  search is short. The space of others is lost until compaction. */
const holesMax = 64;

/** Allocates the space of one extent, in the offsets that records contain; encrypted extents have
 *  their own implementation (`encrypted-files.ts`). */
export interface Regions {
  /** End of the allocated space. */
  readonly tail: number;
  /** Length of the longest region that fits after the allocated space. */
  readonly bytesAfterTail: number;
  allocate(length: number): ExtentRange | undefined;
  /** Frees an allocated range, or the end of one. */
  free(range: ExtentRange): void;
}

/** Allocates the space of an unencrypted extent. Only ranges that no record refers to are freed
 *  (failed uploads, unused ends); they are reused before the tail grows. */
export class RegionAllocator implements Regions {
  readonly #capacity: number;
  readonly #blockBytes: number;
  #tail = 0;
  #holes: ExtentRange[] = [];

  /** With `blockBytes`, for aligned extents, all ranges begin at a multiple of it. */
  constructor(capacity: number, blockBytes = 1) {
    this.#capacity = capacity - (capacity % blockBytes);
    this.#blockBytes = blockBytes;
  }

  get tail(): number {
    return this.#tail;
  }

  /** Free bytes after the tail; freed ranges before it do not count. */
  get bytesAfterTail(): number {
    return this.#capacity - this.#tail;
  }

  allocate(length: number): ExtentRange | undefined {
    const taken = this.#blockEnd(length);
    const index = this.#holes.findIndex((hole) => hole.length >= taken);
    const hole = this.#holes[index];
    if (hole !== undefined) {
      const rest = { offset: hole.offset + taken, length: hole.length - taken };
      this.#holes.splice(index, 1, ...(rest.length > 0 ? [rest] : []));
      return { offset: hole.offset, length };
    }
    if (taken > this.bytesAfterTail) return undefined;
    const offset = this.#tail;
    this.#tail += taken;
    return { offset, length };
  }

  free(range: ExtentRange): void {
    const offset = this.#blockEnd(range.offset);
    const freed = { offset, length: this.#blockEnd(range.offset + range.length) - offset };
    if (freed.length === 0) return;
    const freedEnd = freed.offset + freed.length;
    ensure(freedEnd <= this.#tail, () => `bytes ${offset} to ${freedEnd} were not allocated`);
    const merged: ExtentRange[] = [];
    const ordered = [...this.#holes, freed].toSorted((a, b) => a.offset - b.offset);
    for (const next of ordered) {
      const last = merged.at(-1);
      const lastEnd = last === undefined ? 0 : last.offset + last.length;
      // Bytes that are freed twice would be given to two bodies.
      ensure(lastEnd <= next.offset, () => `bytes from ${next.offset} on were freed twice`);
      if (last !== undefined && lastEnd === next.offset) {
        merged.splice(-1, 1, { ...last, length: last.length + next.length });
      } else merged.push(next);
    }
    const end = merged.at(-1);
    if (end !== undefined && end.offset + end.length === this.#tail) {
      this.#tail = end.offset;
      merged.pop();
    }
    this.#holes = merged.slice(0, holesMax);
  }

  /** Rounds up to whole blocks of an aligned extent. */
  #blockEnd(bytes: number): number {
    return Math.ceil(bytes / this.#blockBytes) * this.#blockBytes;
  }
}
