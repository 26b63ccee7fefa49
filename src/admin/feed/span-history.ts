import type { Ticks } from "../../base/ticks.ts";

/** Something that holds for some time, such as a lease or a wait. */
export interface Spanned {
  /** Identifies the fact between samples. */
  readonly key: string;
  /** When the fact began; undefined: when it was first sampled. */
  readonly since?: Ticks | undefined;
  /** When the fact ends by itself, such as the expiry of a lease; undefined if that is not
   *  known. */
  readonly until?: Ticks | undefined;
}

export interface Span<Fact> {
  readonly fact: Fact;
  readonly from: Ticks;
  /** Undefined while the fact holds. */
  readonly to: Ticks | undefined;
}

/** Facts that hold at the same time; further ones are not recorded. */
const heldMax = 2000;
/** Spans that have ended and are kept for timelines. */
const endedMax = 4096;

/** Records from when to when facts held, from samples of the facts that hold now. Memory is fixed:
 *  a new span replaces the oldest. */
export class SpanHistory<Fact extends Spanned> {
  readonly #held = new Map<string, { fact: Fact; readonly from: Ticks }>();
  readonly #ended = new Ring<Span<Fact>>(endedMax);
  #sampledAt: Ticks | undefined;

  /** Takes a sample: facts that were there before and are not any more have ended. */
  update(now: Ticks, facts: readonly Fact[]): void {
    const present = new Map(facts.map((fact) => [fact.key, fact]));
    for (const [key, { fact, from }] of this.#held) {
      if (present.has(key)) continue;
      this.#held.delete(key);
      this.#ended.push({ fact, from, to: endOf(fact, now) });
    }
    for (const [key, fact] of present) {
      const known = this.#held.get(key);
      if (known !== undefined) known.fact = fact;
      else if (this.#held.size < heldMax) this.#held.set(key, { fact, from: fact.since ?? now });
    }
    this.#sampledAt = now;
  }

  /** Ends the open spans at the last sample. No client watches any more, so there are no further
   *  samples that would show their ends. */
  pause(): void {
    const at = this.#sampledAt;
    if (at === undefined) return;
    for (const { fact, from } of this.#held.values()) this.#ended.push({ fact, from, to: at });
    this.#held.clear();
  }

  /** The spans that held at or after a time. */
  since(time: Ticks): readonly Span<Fact>[] {
    const ended = [...this.#ended.latest()].filter(({ to }) => to !== undefined && to >= time);
    const held = [...this.#held.values()].map((one) => ({ ...one, to: undefined }));
    return [...held, ...ended];
  }
}

function endOf({ until }: Spanned, now: Ticks): Ticks {
  return until !== undefined && until < now ? until : now;
}

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
