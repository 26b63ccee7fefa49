import type { Operation } from "./history.ts";
import type { Workload } from "./workload.ts";

export interface Finding {
  readonly workload: string;
  readonly keys: number;
  readonly operations: number;
  /** Calls without a response. */
  readonly unknown: number;
  readonly refused: number;
  readonly problems: readonly string[];
}

/** Undefined without a response. */
function statusOf({ output }: Operation): number | undefined {
  return output === undefined ? undefined : (output as { readonly status: number }).status;
}

export function judge(
  workloads: readonly Workload[],
  operations: readonly Operation[],
): readonly Finding[] {
  return workloads.map((workload) => {
    const own = operations.filter((operation) => operation.workload === workload.name);
    const statuses = own.map(statusOf);
    return {
      workload: workload.name,
      keys: new Set(own.map(({ key }) => key)).size,
      operations: own.length,
      unknown: statuses.filter((status) => status === undefined).length,
      refused: statuses.filter((status) => (status ?? 0) >= 400).length,
      problems: [...serverFaults(own), ...emptiness(own), ...workload.check(own)],
    };
  });
}

/** The server never answers 500, whatever faults are injected. */
function serverFaults(operations: readonly Operation[]): readonly string[] {
  const failed = operations.filter((operation) => statusOf(operation) === 500);
  return failed.map(({ id }) => `${id} was answered with 500`);
}

const nothingSucceeded = "not one operation succeeded";

/** A workload without successful calls proves nothing. */
function emptiness(operations: readonly Operation[]): readonly string[] {
  const isDone = operations.some((operation) => (statusOf(operation) ?? 999) < 300);
  return isDone ? [] : [nothingSucceeded];
}
