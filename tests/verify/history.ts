/**
 * Calls and results of clients, one JSON line per event. Times are microseconds of the machine's
 * monotonic clock, which all processes share.
 */
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
  /** No response: executed, still running, or never executed. */
  | { readonly event: "unknown"; readonly id: string; readonly time: number }
  /** It was not sent. */
  | { readonly event: "never"; readonly id: string };

/** A call with its result. Without a response it has no output and ends at infinity. */
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
    // A killed client may leave half a line of its last event, which contains no result.
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

const unavailable = 503;

/** Operations on nodes whose database fails: after 503 a write may have taken effect, because its
 *  response was lost between database and node (docs/SCALE.md). */
export function unavailableAsUnknown(operations: readonly Operation[]): readonly Operation[] {
  return operations.map((operation) => {
    const { status } = (operation.output ?? {}) as { readonly status?: number };
    if (status !== unavailable) return operation;
    return { ...operation, output: undefined, returned: Infinity };
  });
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
