/** More ids than this are never in a client's hands. */
export const creditsMax = 8192;

/**
 * The ids a client may use: each once, in any order, between the lowest unused and the highest
 * granted ([MS-SMB2] 3.3.1.1). Example: with low 5, high 9 and 6 used, the client holds 5, 7, 8.
 */
export class SequenceWindow {
  #low = 0n;
  #high = 1n;
  readonly #used = new Set<bigint>();

  /** Takes `count` ids from `first` on; false if one of them is not the client's to use. */
  take(first: bigint, count: number): boolean {
    const end = first + BigInt(count);
    if (first < this.#low || end > this.#high) return false;
    for (let id = first; id < end; id += 1n) if (this.#used.has(id)) return false;
    for (let id = first; id < end; id += 1n) this.#used.add(id);
    while (this.#used.delete(this.#low)) this.#low += 1n;
    return true;
  }

  /** Gives the client more ids, and never leaves it without any. Returns how many. */
  grant(requested: number, charge: number): number {
    const span = Number(this.#high - this.#low);
    const held = span - this.#used.size;
    // A gap that the client leaves open keeps the whole window from moving on.
    const room = Math.max(0, creditsMax - span);
    const wanted = Math.max(requested, charge, 1);
    const count = Math.min(wanted, room);
    const least = held === 0 ? 1 : 0;
    const granted = Math.max(count, least);
    this.#high += BigInt(granted);
    return granted;
  }
}
