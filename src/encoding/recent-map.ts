/** A bounded map that evicts entries not used recently. It has two generations instead of a list
 *  ordered by use: when the young generation is full it becomes the old one, and the previous old
 *  one is dropped. A hit in the old generation moves the entry to the young one, so a hit costs one
 *  or two lookups. */
export class RecentMap<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  readonly #generationSizeMax: number;

  constructor(sizeMax: number) {
    this.#generationSizeMax = Math.max(1, Math.floor(sizeMax / 2));
  }

  get(key: string): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#generationSizeMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
