interface ReadOnceOptions {
  /** What the cache can hold. */
  readonly bytesMax: number;
  /** Bytes of a typical short value, approximately: there is a slot for as many as fit. */
  readonly bytesPerSlot: number;
}

/**
 * Records which values were read lately, for a cache that keeps only those that are read again
 * soon: keeping each value would cost time for nothing, and one long read would evict all others.
 *
 * A value is remembered until more bytes were read than the cache can hold, or another one takes
 * its slot. Example with a limit of 100: after a (40 bytes) and b (60), a is found; after a
 * (40) and b (61) it is not.
 *
 * Arrays of numbers instead of a map, because adding an entry must cost far less than decrypting a
 * value.
 */
export class ReadOnce {
  readonly #bytesMax: number;
  /** The ids of the values, each in the slot that its remainder selects. An odd number of slots, so
   *  that ids which are multiples of a power of two use all of them. */
  readonly #ids: Float64Array;
  /** How many bytes had been read before each of them. What was read since then includes its own
   *  bytes, which the cache must hold as well. */
  readonly #readAt: Float64Array;
  #bytesRead = 0;

  constructor({ bytesMax, bytesPerSlot }: ReadOnceOptions) {
    this.#bytesMax = bytesMax;
    const slots = Math.floor(bytesMax / bytesPerSlot) | 1;
    // No id: zero is one.
    this.#ids = new Float64Array(slots).fill(Number.NaN);
    this.#readAt = new Float64Array(slots);
  }

  /** Returns whether a value was read before, and remembers it. Its id is an integer; if two values
   *  have the same one, the second counts as read again. */
  addOrFind(id: number, bytes: number): boolean {
    const slot = id % this.#ids.length;
    const bytesSince = this.#bytesRead - this.#readAt[slot]!;
    const isFound = this.#ids[slot] === id && bytesSince <= this.#bytesMax;
    this.#ids[slot] = id;
    this.#readAt[slot] = this.#bytesRead;
    this.#bytesRead += bytes;
    return isFound;
  }
}
