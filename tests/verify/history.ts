/** What clients did and saw, one JSON line for each event. Times are microseconds of the machine's
 *  monotonic clock, which all processes share. */
export type HistoryEvent =
  | {
      readonly event: "call";
      readonly id: string;
      readonly workload: string;
      readonly key: string;
      readonly input: object;
      readonly time: number;
    }
  | {
      readonly event: "return";
      readonly id: string;
      readonly output: object;
      readonly time: number;
    }
  /** No answer came: it may have happened, may still happen, or never will. */
  | { readonly event: "unknown"; readonly id: string; readonly time: number }
  /** It was not even sent. */
  | { readonly event: "never"; readonly id: string };

/** A call with its end. One without an answer has no output and ends at infinity. */
export interface Operation<Input = object, Output = object> {
  readonly id: string;
  readonly workload: string;
  readonly key: string;
  readonly input: Input;
  readonly output: Output | undefined;
  readonly called: number;
  readonly returned: number;
}

export function parseHistory(lines: Iterable<string>): readonly HistoryEvent[] {
  const events: HistoryEvent[] = [];
  for (const line of lines) {
    // A client that was killed may have left half a line: of its last event, which says nothing.
    if (line.endsWith("}")) events.push(JSON.parse(line) as HistoryEvent);
  }
  return events;
}

export function operationsIn(events: readonly HistoryEvent[]): readonly Operation[] {
  const operations = new Map<string, Operation>();
  for (const event of events) {
    if (event.event === "call") {
      const { id, workload, key, input, time } = event;
      const open = { output: undefined, called: time, returned: Infinity };
      operations.set(id, { id, workload, key, input, ...open });
    } else if (event.event === "never") {
      operations.delete(event.id);
    } else if (event.event === "return") {
      const open = operations.get(event.id);
      if (open === undefined) throw new Error(`${event.id} returned, but was not called`);
      operations.set(event.id, { ...open, output: event.output, returned: event.time });
    }
  }
  return [...operations.values()].toSorted((one, other) => one.called - other.called);
}

export function byKey<O extends { readonly key: string }>(
  operations: readonly O[],
): ReadonlyMap<string, readonly O[]> {
  const keys = new Map<string, O[]>();
  for (const operation of operations) {
    const found = keys.get(operation.key);
    if (found === undefined) keys.set(operation.key, [operation]);
    else found.push(operation);
  }
  return keys;
}
