import type { QueryConfig } from "pg";

import type { Ticks } from "../../base/ticks.ts";
import type { Attempt } from "../attempt.ts";
import type { Change } from "../write-set.ts";
import type { ValueCodec } from "../engine.ts";
import { keyInLog, numberPart } from "../logs.ts";
import { encodeCounter } from "../store.ts";
import { latestTicks } from "../committer.ts";
import { bigintArray, byteaColumns, boundOf, rowKey, type RowKey } from "./rows.ts";

/** Encodes a commit batch as the parameters of `commit_batch`, the function of the database that
 *  validates and writes it (`schema.ts`): arrays of columns, so that any number of transactions is
 *  one statement. */

/** Node and number of a batch, by which the database recognises one that is sent again. */
interface BatchIdentity {
  readonly node: string;
  readonly number: number;
}

const types = `text bigint bigint bigint
  bigint[] bytea[] bytea[] bigint[]
  bigint[] bytea[] bytea[] bytea[] bytea[] bigint[] bigint[]
  bigint[] bigint[]
  bigint[] bigint[] bytea[] bytea[] bytea[] bytea[]`;
const placeholders = types.split(/\s+/).map((type, index) => `$${index + 1}::${type}`);
const text = `SELECT sequence_before, lost FROM commit_batch(${placeholders.join(", ")})`;

export interface BatchRow {
  readonly sequence_before: string;
  readonly lost: readonly string[];
}

const writeKinds = { put: 0, delete: 1, add: 2, append: 3 } as const;
const nothing = new Uint8Array(0);

/** The statement with which `database-commits.ts` sends transactions, numbered from 1. */
export function batchQuery(
  attempts: readonly Attempt[],
  identity: BatchIdentity,
  values?: ValueCodec,
): QueryConfig {
  const floor: Ticks = 0n;
  const columns = [
    identity.node,
    identity.number,
    String(latestTicks(attempts, floor)),
    attempts.length,
    ...readColumns(attempts),
    ...rangeColumns(attempts),
    ...dependencyColumns(attempts),
    ...writeColumns(attempts, values),
  ];
  return { name: "commit", text, values: columns };
}

function readColumns(attempts: readonly Attempt[]): Buffer[] {
  const [indexes, revisions]: [number[], number[]] = [[], []];
  const keys: RowKey[] = [];
  for (const [index, { keyReads }] of attempts.entries()) {
    for (const { key, revision } of keyReads.values()) {
      indexes.push(index + 1);
      keys.push(rowKey(key));
      revisions.push(revision);
    }
  }
  return [bigintArray(indexes), ...byteaColumns(keys, "head", "digest"), bigintArray(revisions)];
}

function rangeColumns(attempts: readonly Attempt[]): Buffer[] {
  const reads = attempts.flatMap(({ rangeReads, sequence }, index) =>
    rangeReads.map(({ start, end, entries }) => ({
      transactionIndex: index + 1,
      count: entries.length,
      sequence,
      start: boundOf(start),
      end: boundOf(end),
    })),
  );
  return [
    bigintArray(reads.map(({ transactionIndex }) => transactionIndex)),
    ...byteaColumns(
      reads.map(({ start }) => start),
      "head",
      "tail",
    ),
    ...byteaColumns(
      reads.map(({ end }) => end),
      "head",
      "tail",
    ),
    bigintArray(reads.map(({ count }) => count)),
    bigintArray(reads.map(({ sequence }) => sequence)),
  ];
}

/** Pairs of a transaction and an earlier one whose changes it has read. In their order, so that
 *  `commit_batch` knows which conflict before it checks those that depend on them. */
function dependencyColumns(attempts: readonly Attempt[]): Buffer[] {
  const indexOf = new Map(attempts.map((attempt, index) => [attempt, index + 1]));
  const [indexes, on]: [number[], number[]] = [[], []];
  for (const [index, { dependencies }] of attempts.entries()) {
    for (const each of dependencies) {
      indexes.push(index + 1);
      on.push(indexOf.get(each) ?? 0);
    }
  }
  return [bigintArray(indexes), bigintArray(on)];
}

function writeColumns(attempts: readonly Attempt[], values: ValueCodec | undefined): Buffer[] {
  const writes = attempts.flatMap(({ changes }, index) =>
    changes.all().map((change) => ({
      ...columnsOf(change),
      transactionIndex: index + 1,
      kind: writeKinds[change.kind],
      value: values === undefined ? valueOf(change) : encodedValueOf(change, values),
    })),
  );
  return [
    bigintArray(writes.map(({ transactionIndex }) => transactionIndex)),
    bigintArray(writes.map(({ kind }) => kind)),
    ...byteaColumns(writes, "head", "tail", "digest", "value"),
  ];
}

/** The columns of a written key. That of an entry appended to a log consists of the log's key
 *  (head), the sequence that the database inserts, and the entry's number (tail). */
function columnsOf(change: Change): RowKey {
  if (change.kind !== "append") return rowKey(change.key);
  return { head: change.key, tail: numberPart(change.number), digest: nothing };
}

function valueOf(change: Change): Uint8Array {
  if (change.kind === "put" || change.kind === "append") return change.value;
  return change.kind === "add" ? encodeCounter(change.delta) : nothing;
}

/** Encrypts the value of a write. Counters stay plain, because the database adds to them. */
function encodedValueOf(change: Change, values: ValueCodec): Uint8Array {
  switch (change.kind) {
    case "put":
      return values.encode(change.key, change.text, change.value);
    case "append": {
      const key = keyInLog(change.key, { sequence: 0, number: change.number });
      return values.encode(key, change.text, change.value);
    }
    default:
      return valueOf(change);
  }
}
