/** A stretch of an extent. */
export interface Stretch {
  readonly offset: number;
  readonly length: number;
}

/** More freed stretches than this are forgotten; compaction gets their space back. */
const holesMax = 64;

/** Hands out the space of one extent from the front; what is given back is handed out again. */
export class RegionAllocator {
  readonly #capacity: number;
  #tail = 0;
  #holes: Stretch[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Everything handed out lies below this. */
  get tail(): number {
    return this.#tail;
  }

  get bytesLeft(): number {
    return this.#capacity - this.#tail;
  }

  take(length: number): Stretch | undefined {
    const index = this.#holes.findIndex((hole) => hole.length >= length);
    const hole = this.#holes[index];
    if (hole !== undefined) {
      const rest = { offset: hole.offset + length, length: hole.length - length };
      this.#holes.splice(index, 1, ...(rest.length > 0 ? [rest] : []));
      return { offset: hole.offset, length };
    }
    if (length > this.bytesLeft) return undefined;
    const offset = this.#tail;
    this.#tail += length;
    return { offset, length };
  }

  giveBack(stretch: Stretch): void {
    if (stretch.length === 0) return;
    const merged: Stretch[] = [];
    const ordered = [...this.#holes, stretch].toSorted((a, b) => a.offset - b.offset);
    for (const next of ordered) {
      const last = merged.at(-1);
      const touches = last !== undefined && last.offset + last.length === next.offset;
      if (touches) merged.splice(-1, 1, { ...last, length: last.length + next.length });
      else merged.push(next);
    }
    const end = merged.at(-1);
    if (end !== undefined && end.offset + end.length === this.#tail) {
      this.#tail = end.offset;
      merged.pop();
    }
    this.#holes = merged.slice(0, holesMax);
  }
}
