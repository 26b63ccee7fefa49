import { byKey, type Operation } from "./history.ts";
import { findCycles, type Edge } from "./cycles.ts";

/** Entities of one partition. A write carries a unique version and names the one it replaces. */
export type TransactionInput =
  | { readonly action: "query" }
  | { readonly action: "transfer"; readonly writes: readonly RowWrite[] };

export interface RowWrite {
  readonly row: string;
  readonly previous: string;
  readonly version: string;
}

export interface TransactionOutput {
  readonly status: number;
  readonly rows?: readonly SeenRow[];
}

export interface SeenRow {
  readonly row: string;
  readonly version: string;
  readonly previous: string;
  readonly units: number;
}

export type TransactionOperation = Operation<TransactionInput, TransactionOutput>;

const firstVersion = "first";

/**
 * Checks atomicity and isolation: the anomalies that snapshot isolation and strict serializability
 * exclude, by name.
 */
export function checkTransactions(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly TransactionOperation[])].flatMap(([key, all]) => {
    const problems = [
      ...abortedReads(all),
      ...wrongSums(all),
      ...lostUpdates(all),
      ...findCycles(dependencies(all), all),
    ];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

/** G1a: a read version whose transaction was rejected or never existed. */
function abortedReads(operations: readonly TransactionOperation[]): readonly string[] {
  const possible = new Set([firstVersion]);
  for (const { input, output } of operations) {
    if (input.action !== "transfer" || (output?.status ?? 200) >= 300) continue;
    for (const { row, version } of input.writes) possible.add(nameOf(row, version));
  }
  return operations.flatMap(({ id, output }) =>
    (output?.rows ?? []).flatMap(({ row, version }) =>
      version === firstVersion || possible.has(nameOf(row, version))
        ? []
        : [`aborted read: ${id} saw ${row}=${version}`],
    ),
  );
}

/** Every transaction keeps the sum, so a reader with another sum saw part of one. */
function wrongSums(operations: readonly TransactionOperation[]): readonly string[] {
  const reads = operations.filter(({ output }) => output?.rows !== undefined);
  const sums = reads.map(({ output }) => sumOf(output?.rows ?? []));
  return reads.flatMap(({ id }, index) =>
    sums[index] === sums[0] ? [] : [`torn read: ${id} saw ${sums[index]} units, not ${sums[0]}`],
  );
}

function sumOf(rows: readonly SeenRow[]): number {
  return rows.reduce((sum, { units }) => sum + units, 0);
}

/** P4: two successful transactions replaced the same version of one entity. */
function lostUpdates(operations: readonly TransactionOperation[]): readonly string[] {
  const successors = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, row, previous } of committedWrites(operations)) {
    const replaced = nameOf(row, previous);
    const other = successors.get(replaced);
    if (other !== undefined) problems.push(`lost update: ${other} and ${id} replaced ${replaced}`);
    successors.set(replaced, id);
  }
  return problems;
}

/** Transactions that were acknowledged or whose writes were read. */
function committedWrites(operations: readonly TransactionOperation[]) {
  const seen = new Set(
    operations.flatMap(({ output }) =>
      (output?.rows ?? []).map(({ row, version }) => nameOf(row, version)),
    ),
  );
  return operations.flatMap(({ id, input, output }) => {
    if (input.action !== "transfer") return [];
    const isSeen = input.writes.some(({ row, version }) => seen.has(nameOf(row, version)));
    const isCommitted = output === undefined ? isSeen : output.status < 300;
    return isCommitted ? input.writes.map((write) => ({ id, ...write })) : [];
  });
}

/**
 * Dependencies: the writer of a version precedes its readers (wr) and the writer of the next
 * version (ww); the reader of a version precedes the writer of the next (rw). If-Match names the
 * replaced version, so the version order is known.
 */
function dependencies(operations: readonly TransactionOperation[]): readonly Edge[] {
  const writes = committedWrites(operations);
  const writerOf = new Map(writes.map(({ id, row, version }) => [nameOf(row, version), id]));
  const replacerOf = new Map(writes.map(({ id, row, previous }) => [nameOf(row, previous), id]));
  const edges: Edge[] = [];
  const add = (from: string | undefined, to: string | undefined, kind: Edge["kind"]): void => {
    if (from !== undefined && to !== undefined && from !== to) edges.push({ from, to, kind });
  };
  for (const { id, row, previous } of writes) add(writerOf.get(nameOf(row, previous)), id, "ww");
  for (const { id, output } of operations) {
    for (const { row, version } of output?.rows ?? []) {
      add(writerOf.get(nameOf(row, version)), id, "wr");
      add(id, replacerOf.get(nameOf(row, version)), "rw");
    }
  }
  return edges;
}

function nameOf(row: string, version: string): string {
  return `${row}=${version}`;
}
