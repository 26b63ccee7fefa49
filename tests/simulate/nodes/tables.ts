import pg from "pg";
import { fencedCode } from "../../../src/store/postgres/schema.ts";
import type { EngineView, VersionedEntry } from "../../../src/store/engine.ts";
import { keyOfText, type KeyText } from "../../../src/encoding/keys.ts";
import { decodeCounter, encodeCounter } from "../../../src/store/store.ts";
import {
  Edit,
  emptyTree,
  treeDelete,
  treeGet,
  treePut,
  treeScan,
  type TreeNode,
} from "../../../src/store/tree.ts";

interface StoredBatch {
  readonly number: number;
  readonly sequence: number;
  readonly lost: readonly number[];
}

/** The tables of a schema in one state (`store/postgres/schema.ts`). */
export interface Tables {
  readonly entries: TreeNode<VersionedEntry>;
  readonly sequence: number;
  readonly ticks: bigint;
  /** Store time minus the clock of the database. */
  readonly clockShift: bigint;
  readonly batches: ReadonlyMap<string, StoredBatch>;
  readonly fenced: ReadonlySet<string>;
  /** The tails of long keys by head and digest; it depends on the keys alone and only grows. */
  readonly tails: Map<string, string>;
}

export function emptyTables(): Tables {
  return {
    entries: emptyTree(),
    sequence: 0,
    ticks: 0n,
    clockShift: 0n,
    batches: new Map(),
    fenced: new Set(),
    tails: new Map(),
  };
}

/** A value of a statement, as the driver takes it. */
export type Value = string | number | Buffer;

export interface BatchRow {
  readonly sequence_before: string;
  readonly lost: readonly string[];
}

const put = 0;
const erase = 1;
const add = 2;
const append = 3;
const outOfOrderCode = "EG002";
const duplicateCode = "23505";

interface Write {
  readonly tx: number;
  readonly kind: number;
  readonly head: string;
  readonly tail: string;
  readonly value: Uint8Array;
}

/** What protects a batch, as an object: a planted bug replaces it. */
export const batchRules = {
  /** Whether the last batch of the node is sent again. */
  isRepeated: (last: number, number: number): boolean => last === number,
  isFenced: ({ fenced }: Tables, node: string): boolean => fenced.has(node),
};

/** What the function `commit_batch` of the schema does: the next tables, which are the same object
 *  if it writes nothing, and the returned row. `tests/postgres/database-model.test.ts` compares
 *  it with the function. */
export function commitBatch(
  tables: Tables,
  values: readonly Value[],
): { readonly tables: Tables; readonly row: BatchRow } {
  const node = String(values[0]);
  const [number, size] = [Number(values[1]), Number(values[3])];
  const earlier = tables.batches.get(node);
  if (earlier !== undefined && batchRules.isRepeated(earlier.number, number)) {
    return { tables, row: rowOf(earlier) };
  }
  if (earlier !== undefined && earlier.number > number) {
    throw databaseError(outOfOrderCode, "a later batch was committed");
  }
  if (batchRules.isFenced(tables, node)) {
    throw databaseError(fencedCode, "the other nodes have given this one up");
  }
  const lost = lostIn(tables, values);
  const writes = writesOf(tables, values);
  const kept = writes.filter(({ tx }) => !lost.has(tx));
  const batch = { number, sequence: tables.sequence, lost: [...lost] };
  if (kept.length === 0) return { tables, row: rowOf(batch) };
  const ticks = BigInt(values[2] as string);
  const next: Tables = {
    ...tables,
    entries: withWrites(tables, kept),
    sequence: tables.sequence + size,
    ticks: ticks > tables.ticks ? ticks : tables.ticks,
    batches: new Map([...tables.batches, [node, batch]]),
  };
  return { tables: next, row: rowOf(batch) };
}

function rowOf({ sequence, lost }: StoredBatch): BatchRow {
  return { sequence_before: String(sequence), lost: lost.map(String) };
}

/** The transactions whose read set is invalid, or that depend on such a transaction. */
function lostIn(tables: Tables, values: readonly Value[]): Set<number> {
  const lost = new Set<number>();
  const [txs, heads, digests, stamps] = [
    numbersIn(values[4]),
    textsIn(values[5]),
    textsIn(values[6]),
    numbersIn(values[7]),
  ];
  for (const [index, tx] of txs.entries()) {
    const found = entryAt(tables, heads[index]!, digests[index]!);
    if ((found?.revision ?? 0) !== stamps[index]) lost.add(tx);
  }
  const [counts, sequences] = [numbersIn(values[13]), numbersIn(values[14])];
  const ranges = boundsIn(values.slice(9, 13));
  for (const [index, tx] of numbersIn(values[8]).entries()) {
    const found = treeScan(tables.entries, { ...ranges[index]!, reverse: false }, Infinity);
    const isChanged = found.some(({ revision }) => revision > sequences[index]!);
    if (isChanged || found.length !== counts[index]) lost.add(tx);
  }
  const on = numbersIn(values[16]);
  for (const [index, tx] of numbersIn(values[15]).entries()) {
    if (lost.has(on[index]!)) lost.add(tx);
  }
  return lost;
}

function writesOf({ tails }: Tables, values: readonly Value[]): readonly Write[] {
  const [kinds, heads, tailsOf, digests, contents] = [
    numbersIn(values[18]),
    textsIn(values[19]),
    textsIn(values[20]),
    textsIn(values[21]),
    textsIn(values[22]),
  ];
  return numbersIn(values[17]).map((tx, index) => {
    const [head, tail, kind] = [heads[index]!, tailsOf[index]!, kinds[index]!];
    const digest = digests[index]!;
    if (digest !== "") tails.set(head + digest, tail);
    return { tx, kind, head, tail, value: keyOfText(contents[index]!) };
  });
}

function withWrites({ entries, sequence }: Tables, writes: readonly Write[]): Tables["entries"] {
  const edit = new Edit();
  let root = entries;
  const store = (text: KeyText, value: Uint8Array, tx: number): void => {
    root = treePut(
      root,
      text,
      { key: keyOfText(text), text, value, revision: sequence + tx },
      edit,
    );
  };
  /** The last transaction that replaces each key; earlier writes of it have no effect. */
  const bases = new Map<string, number>();
  for (const { tx, kind, head, tail } of writes) {
    if (kind < add) bases.set(head + tail, Math.max(tx, bases.get(head + tail) ?? 0));
  }
  for (const { tx, kind, head, tail, value } of writes) {
    const text = head + tail;
    if (kind >= add || tx !== bases.get(text)) continue;
    if (kind === put) store(text, value, tx);
    if (kind === erase) root = treeDelete(root, text, edit);
  }
  for (const { tx, kind, head, tail, value } of writes) {
    const text = head + tail;
    if (kind !== add || tx <= (bases.get(text) ?? 0)) continue;
    const found = treeGet(root, text);
    const before = found === undefined ? 0n : decodeCounter(found.value);
    store(text, encodeCounter(before + decodeCounter(value)), tx);
  }
  for (const { tx, kind, head, tail, value } of writes) {
    if (kind !== append) continue;
    const number = Buffer.alloc(8);
    number.writeBigInt64BE(BigInt(sequence + tx));
    const text = `${head}(${number.toString("latin1")}${tail}`;
    if (treeGet(root, text) !== undefined) throw databaseError(duplicateCode, "key exists");
    store(text, value, tx);
  }
  return root;
}

export function entryAt(
  { entries, tails }: Tables,
  head: string,
  digest: string,
): VersionedEntry | undefined {
  if (digest === "") return treeGet(entries, head);
  const tail = tails.get(head + digest);
  return tail === undefined ? undefined : treeGet(entries, head + tail);
}

/** Ranges from the columns of the heads and tails of their starts and ends. */
export function boundsIn(columns: readonly Value[]): readonly { start: string; end: string }[] {
  const [heads = [], tails = [], endHeads = [], endTails = []] = columns.map(textsIn);
  return heads.map((head, index) => ({
    start: head + tails[index]!,
    end: endHeads[index]! + endTails[index]!,
  }));
}

const headerBytes = 20;
const countAt = 12;

/** The items of an array of `bytea` in PostgreSQL's binary format, as texts of a byte per
 *  character. */
export function textsIn(value: Value | undefined): readonly string[] {
  const array = value as Buffer;
  const items: string[] = [];
  let at = headerBytes;
  for (let left = array.readInt32BE(countAt); left > 0; left -= 1) {
    const length = array.readInt32BE(at);
    items.push(array.toString("latin1", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return items;
}

/** The items of an array of `bigint`. */
export function numbersIn(value: Value | undefined): readonly number[] {
  const array = value as Buffer;
  const count = array.readInt32BE(countAt);
  return Array.from({ length: count }, (_, index) =>
    Number(array.readBigInt64BE(headerBytes + index * 12 + 4)),
  );
}

export function databaseError(code: string, message: string): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), { code });
}

/** A reader of the tables, for checks after a run. */
export function viewOf({ entries, sequence, ticks }: Tables): EngineView {
  return {
    sequence,
    ticks,
    clockOffset: 0n,
    priorityOwner: 0,
    get: (_key, text) => treeGet(entries, text),
    scan: (bounds, countMax) => treeScan(entries, bounds, countMax),
    close: () => {},
  };
}
