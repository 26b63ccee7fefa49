/** Upper bound of the window, from the lowest unused to the highest granted MessageId. */
export const creditsMax = 8192;

/**
 * The MessageIds a client may use: each once, in any order, from `low`, the lowest unused one, to
 * before `high`, the first not granted ([MS-SMB2] 3.3.1.1). One credit is one id. Example: with low
 * 5, high 9 and 6 used, the client may use 5, 7 and 8.
 */
export class SequenceWindow {
  #low = 0n;
  #high = 1n;
  readonly #used = new Set<bigint>();

  /** Marks `count` ids from `first` on as used; false if one was used before or not granted. */
  take(first: bigint, count: number): boolean {
    const end = first + BigInt(count);
    if (first < this.#low || end > this.#high) return false;
    for (let id = first; id < end; id += 1n) if (this.#used.has(id)) return false;
    for (let id = first; id < end; id += 1n) this.#used.add(id);
    while (this.#used.delete(this.#low)) this.#low += 1n;
    return true;
  }

  /** Grants credits and returns their number. A client without unused credits gets at least one.
   *  `charge` is the number of ids that the request used. */
  grant(requested: number, charge: number): number {
    const span = Number(this.#high - this.#low);
    const unused = span - this.#used.size;
    // The window does not move past an id that the client has not used, so such a client gets fewer
    // credits.
    const available = Math.max(0, creditsMax - span);
    const desired = Math.max(requested, charge, 1);
    const count = Math.min(desired, available);
    const minimum = unused === 0 ? 1 : 0;
    const granted = Math.max(count, minimum);
    this.#high += BigInt(granted);
    return granted;
  }
}
