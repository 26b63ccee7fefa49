/** Buffer of the latest items; a new item replaces the oldest. */
export class Ring<T> {
  readonly #countMax: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  push(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#countMax;
  }

  /** The items, newest first. */
  *latest(): IterableIterator<T> {
    const count = this.#items.length;
    for (let back = 1; back <= count; back += 1) {
      const item = this.#items[(this.#next - back + count) % count];
      if (item !== undefined) yield item;
    }
  }
}
