import { evaluate, type Lookup } from "./evaluate.ts";
import type { Field } from "./records.ts";
import type { Aggregate } from "./sql-tree.ts";
import { numberOf, type SqlValue } from "./values.ts";

/** Sums up records as they pass: a few numbers, however many there are. */
export class Aggregation {
  readonly #tallies: readonly Accumulator[];

  constructor(aggregates: readonly Aggregate[]) {
    this.#tallies = aggregates.map((aggregate) => new Accumulator(aggregate));
  }

  add(lookup: Lookup): void {
    for (const tally of this.#tallies) tally.add(lookup);
  }

  fields(): readonly Field[] {
    return this.#tallies.map((tally, index) => tally.field(index));
  }
}

class Accumulator {
  readonly #aggregate: Aggregate;
  #count = 0;
  #sum = 0;
  #extreme: number | string | undefined;

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  add(lookup: Lookup): void {
    const { name, of } = this.#aggregate;
    const value: SqlValue = of === undefined ? true : evaluate(of, lookup);
    if (value === null) return;
    if (name === "SUM" || name === "AVG") this.#sum += numberOf(value);
    if (name === "MIN" || name === "MAX") this.#compare(value, name === "MIN");
    this.#count += 1;
  }

  #compare(value: SqlValue, smaller: boolean): void {
    const candidate = typeof value === "string" ? comparable(value) : numberOf(value);
    const best = this.#extreme;
    if (best === undefined) this.#extreme = candidate;
    else if (smaller ? candidate < best : candidate > best) this.#extreme = candidate;
  }

  field(index: number): Field {
    const { name, alias } = this.#aggregate;
    return { name: alias ?? `_${index + 1}`, value: this.#result(name) };
  }

  #result(name: Aggregate["name"]): SqlValue {
    switch (name) {
      case "COUNT":
        return this.#count;
      case "SUM":
        return this.#count === 0 ? null : this.#sum;
      case "AVG":
        return this.#count === 0 ? null : this.#sum / this.#count;
      case "MIN":
      case "MAX":
        return this.#extreme ?? null;
    }
  }
}

/** Columns of delimited text are numbers if they look so. */
function comparable(text: string): number | string {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}
