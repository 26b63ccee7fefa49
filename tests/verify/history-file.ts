import type { Operation } from "./history.ts";
import type { Workload } from "./workload.ts";

/** The first line of a stored history; docs/HISTORY-FORMAT.md describes the format for others. */
export interface HistoryHeader {
  readonly format: "etagere-history";
  readonly version: 1;
  /** What recorded it: `verify`, `cluster`, `simulate`, `planted`. */
  readonly source: string;
  readonly seed: number;
  /** Whether all faults had ended, and the final reads of each workload are part of it. */
  readonly complete: boolean;
  /** The bug that was planted into the server. */
  readonly planted?: string;
}

interface OperationLine {
  readonly id: string;
  readonly process: string;
  readonly service: string;
  readonly workload: string;
  readonly key: string;
  readonly operation: string;
  readonly arguments: object;
  readonly outcome: "answered" | "unknown";
  readonly result: object | null;
  readonly called: number;
  readonly returned: number | null;
}

export interface StoredHistory {
  readonly header: HistoryHeader;
  readonly operations: readonly Operation[];
}

export function historyText(
  about: Omit<HistoryHeader, "format" | "version">,
  operations: readonly Operation[],
  workloads: readonly Workload[],
): string {
  const services = new Map(workloads.map(({ name, service }) => [name, service]));
  const header: HistoryHeader = { format: "etagere-history", version: 1, ...about };
  const lines = operations.map((operation) =>
    JSON.stringify(lineOf(operation, services.get(operation.workload) ?? "")),
  );
  return [JSON.stringify(header), ...lines, ""].join("\n");
}

function lineOf(operation: Operation, service: string): OperationLine {
  const { id, workload, key, input, output, called, returned } = operation;
  const { action, ...rest } = input as { readonly action: string };
  return {
    id,
    process: id.slice(0, id.lastIndexOf(".")),
    service,
    workload,
    key,
    operation: action,
    arguments: rest,
    outcome: output === undefined ? "unknown" : "answered",
    result: output ?? null,
    called,
    returned: output === undefined ? null : returned,
  };
}

export function parseHistoryText(text: string): StoredHistory {
  const [first = "", ...lines] = text.split("\n").filter((line) => line !== "");
  const header = JSON.parse(first) as HistoryHeader;
  if (header.format !== "etagere-history" || header.version !== 1) {
    throw new Error("not a history of version 1");
  }
  return { header, operations: lines.map((line) => operationIn(JSON.parse(line))) };
}

function operationIn(line: OperationLine): Operation {
  const { id, workload, key, called } = line;
  return {
    id,
    workload,
    key,
    input: { action: line.operation, ...line.arguments },
    output: line.result ?? undefined,
    called,
    returned: line.returned ?? Infinity,
  };
}
