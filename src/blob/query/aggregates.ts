import { evaluate, type Lookup } from "./evaluate.ts";
import type { Field } from "./records.ts";
import type { Aggregate } from "./sql-tree.ts";
import { numberOf, type SqlValue } from "./values.ts";

/** Computes aggregates record by record, in constant memory. */
export class Aggregation {
  readonly #accumulators: readonly Accumulator[];

  constructor(aggregates: readonly Aggregate[]) {
    this.#accumulators = aggregates.map((aggregate) => new Accumulator(aggregate));
  }

  add(lookup: Lookup): void {
    for (const accumulator of this.#accumulators) accumulator.add(lookup);
  }

  fields(): readonly Field[] {
    return this.#accumulators.map((accumulator, index) => accumulator.field(index));
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
    const candidate = typeof value === "string" ? numberIfNumeric(value) : numberOf(value);
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

/** Delimited text has no types: a text that looks like a number is compared as one. */
function numberIfNumeric(text: string): number | string {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}
