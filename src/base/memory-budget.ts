/** The memory that request bodies and SMB messages may take. `server/request-limits.ts` makes one
 *  budget for the process. */

/** Limits the bytes that the requests of a process hold in memory, over all services and
 *  connections. A body counts from its first byte until its request ends. */
export class MemoryBudget {
  readonly bytesMax: number;
  #used = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get usedBytes(): number {
    return this.#used;
  }

  /** Reserves the bytes if they fit; otherwise returns false and reserves nothing. */
  tryReserve(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false;
    this.#used += bytes;
    return true;
  }

  /** Counts bytes that are already in memory. They are counted even if they exceed the limit, so
   *  that later reservations fail. */
  add(bytes: number): void {
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    if (this.#used < 0) throw new Error("memory budget: more bytes released than reserved");
  }
}
