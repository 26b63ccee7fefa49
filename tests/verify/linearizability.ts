import type { Operation } from "./history.ts";

/** The sequential specification. States are strings, so that visited ones can be remembered. */
export interface Model<Input, Output> {
  readonly initial: string;
  /**
   * The state after the operation, or undefined if this output is impossible in this state. An
   * operation without output has its normal effect.
   */
  step(state: string, input: Input, output: Output | undefined): string | undefined;
}

export type Verdict<Input, Output> =
  | { readonly kind: "linearizable" }
  | {
      readonly kind: "impossible";
      /** Number of operations that the best order explains, and its final state … */
      readonly explained: number;
      readonly state: string;
      /** … and the operations that could come next but contradict that state. */
      readonly stuck: readonly Operation<Input, Output>[];
    }
  | { readonly kind: "undecided" };

interface Entry {
  readonly index: number;
  readonly isCall: boolean;
  next: Entry | undefined;
  previous: Entry | undefined;
}

const stepsMaxDefault = 5_000_000;

/**
 * Searches an order of the operations of one key that respects real time and the model (Wing and
 * Gong, with Lowe's memoization): call and return events are in a list ordered by time; an
 * operation may come next if no return precedes its call. It is then removed from the list; at a
 * return that cannot be passed the last choice is undone. A set of completed operations with its
 * state is never tried twice. Operations without a result are tried after all others: most of them
 * had no effect, and each one that is tried in vain doubles the search.
 */
export function checkLinearizable<Input, Output>(
  model: Model<Input, Output>,
  history: readonly Operation<Input, Output>[],
  stepsMax = stepsMaxDefault,
): Verdict<Input, Output> {
  const [known, unknown] = [history.filter(isEnded), history.filter((each) => !isEnded(each))];
  // Those without a result come last, so that the completed ones mostly are a prefix.
  const operations = [...known, ...unknown];
  const head = listOf(operations);
  const returns = returnEntries(head, operations.length);
  const done = new DoneSet(operations.length);
  const tried = new Set<string>();
  const chosen: { readonly call: Entry; readonly state: string }[] = [];
  let open = known.length;
  let triesUnknown = false;
  let state = model.initial;
  let best = { explained: -1, state, stuck: [] as readonly Operation<Input, Output>[] };
  let entry = head.next;
  for (let steps = 0; open > 0; steps += 1) {
    if (steps > stepsMax) return { kind: "undecided" };
    if (entry?.isCall === true) {
      const { input, output } = operations[entry.index]!;
      const isUnknown: boolean = entry.index >= known.length;
      const next = isUnknown === triesUnknown ? model.step(state, input, output) : undefined;
      if (next !== undefined && remember(tried, done, entry.index, next)) {
        chosen.push({ call: entry, state });
        state = next;
        lift(entry, returns[entry.index]);
        if (!isUnknown) open -= 1;
        triesUnknown = false;
        entry = head.next;
      } else {
        entry = entry.next;
      }
      continue;
    }
    if (!triesUnknown) {
      triesUnknown = true;
      entry = head.next;
      continue;
    }
    if (chosen.length > best.explained) {
      best = { explained: chosen.length, state, stuck: candidates(head, operations) };
    }
    const last = chosen.pop();
    if (last === undefined) return { kind: "impossible", ...best };
    state = last.state;
    done.remove(last.call.index);
    triesUnknown = last.call.index >= known.length;
    if (!triesUnknown) open += 1;
    unlift(last.call, returns[last.call.index]);
    entry = last.call.next;
  }
  return { kind: "linearizable" };
}

function isEnded({ returned }: Operation<unknown, unknown>): boolean {
  return returned !== Infinity;
}

/** A compact form of the set of completed operations: usually a prefix and few others. */
class DoneSet {
  readonly #isDone: boolean[];
  #low = 0;
  readonly #beyond = new Set<number>();

  constructor(size: number) {
    this.#isDone = Array.from({ length: size }, () => false);
  }

  add(index: number): void {
    this.#isDone[index] = true;
    this.#beyond.add(index);
    while (this.#isDone[this.#low] === true) {
      this.#beyond.delete(this.#low);
      this.#low += 1;
    }
  }

  remove(index: number): void {
    this.#isDone[index] = false;
    this.#beyond.delete(index);
    while (this.#low > index) {
      this.#low -= 1;
      if (this.#isDone[this.#low] === true) this.#beyond.add(this.#low);
    }
  }

  text(): string {
    return `${this.#low}:${[...this.#beyond].toSorted((one, other) => one - other).join()}`;
  }
}

/** False if this set and state were tried before; then the operation is not marked as completed. */
function remember(tried: Set<string>, done: DoneSet, index: number, state: string): boolean {
  done.add(index);
  const key = `${done.text()}|${state}`;
  if (!tried.has(key)) {
    tried.add(key);
    return true;
  }
  done.remove(index);
  return false;
}

function listOf(operations: readonly Operation<unknown, unknown>[]): Entry {
  const events = operations.flatMap(({ called, returned }, index) => [
    { index, isCall: true, time: called },
    ...(returned === Infinity ? [] : [{ index, isCall: false, time: returned }]),
  ]);
  // At the same microsecond calls come first, so that operations that may overlap do.
  events.sort((one, other) => one.time - other.time || Number(other.isCall) - Number(one.isCall));
  const head: Entry = { index: -1, isCall: false, next: undefined, previous: undefined };
  let last = head;
  for (const { index, isCall } of events) {
    last.next = { index, isCall, next: undefined, previous: last };
    last = last.next;
  }
  return head;
}

function returnEntries(head: Entry, size: number): readonly (Entry | undefined)[] {
  const returns: (Entry | undefined)[] = Array.from({ length: size });
  for (let entry = head.next; entry !== undefined; entry = entry.next) {
    if (!entry.isCall) returns[entry.index] = entry;
  }
  return returns;
}

function candidates<Input, Output>(
  head: Entry,
  operations: readonly Operation<Input, Output>[],
): readonly Operation<Input, Output>[] {
  const found: Operation<Input, Output>[] = [];
  for (let entry = head.next; entry?.isCall === true; entry = entry.next) {
    found.push(operations[entry.index]!);
  }
  return found;
}

function lift(call: Entry, returned: Entry | undefined): void {
  unlink(call);
  if (returned !== undefined) unlink(returned);
}

function unlift(call: Entry, returned: Entry | undefined): void {
  if (returned !== undefined) relink(returned);
  relink(call);
}

function unlink(entry: Entry): void {
  if (entry.previous !== undefined) entry.previous.next = entry.next;
  if (entry.next !== undefined) entry.next.previous = entry.previous;
}

function relink(entry: Entry): void {
  if (entry.previous !== undefined) entry.previous.next = entry;
  if (entry.next !== undefined) entry.next.previous = entry;
}
