/**
 * The bytes that requests may hold in memory at once: those of all services and connections of a
 * process together. A body is counted from its first byte until its request is over.
 */
export class MemoryBudget {
  readonly bytesMax: number;
  #used = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get usedBytes(): number {
    return this.#used;
  }

  /** Returns whether there was room; if not, nothing was taken. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false;
    this.#used += bytes;
    return true;
  }

  /** Counts what is in memory already, room or not. */
  add(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    if (this.#used < 0) throw new Error("more bytes were given back than taken");
  }
}
