import { ensure } from "../../protocol/result.ts";

/** The space of one extent that is not sealed: which ranges are given to bodies and which are free.
 *  `extent-writer.ts` asks it for regions. */

/** A range of bytes of an extent. */
export interface ExtentRange {
  readonly offset: number;
  readonly length: number;
}

/** Limit of the freed ranges that are kept for reuse; the ranges with the lowest offsets are kept.
 *  The space of other freed ranges is lost until compaction. */
const holesMax = 64;

/** The space of an extent as the writer sees it; encrypted extents divide it in their own way. */
export interface Regions {
  /** End of the allocated space. */
  readonly tail: number;
  /** Length of a region that would fit after the tail. */
  readonly bytesAfterTail: number;
  allocate(length: number): ExtentRange | undefined;
  /** Frees an allocated range, or the end of one. */
  free(range: ExtentRange): void;
}

/** Allocates the space of an extent that is not yet sealed. Only ranges that no record refers to
 *  are freed (failed uploads, unused ends); they are reused before the tail grows. */
export class RegionAllocator implements Regions {
  readonly #capacity: number;
  readonly #blockBytes: number;
  #tail = 0;
  #holes: ExtentRange[] = [];

  /** All ranges begin at a block, and capacity is a number of blocks. */
  constructor(capacity: number, blockBytes = 1) {
    this.#capacity = capacity - (capacity % blockBytes);
    this.#blockBytes = blockBytes;
  }

  /** End of the allocated space. */
  get tail(): number {
    return this.#tail;
  }

  /** Free bytes after the tail, without the freed ranges before it. */
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

  /** Frees an allocated range, or the end of one. */
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

  /** The end of the block in which a number of bytes ends. */
  #blockEnd(bytes: number): number {
    return Math.ceil(bytes / this.#blockBytes) * this.#blockBytes;
  }
}
