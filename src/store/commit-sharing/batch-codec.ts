import { keyBytesMax } from "../../encoding/keys.ts";
import type { BatchRecordPosition, CommitBatch, PendingAttempt } from "../commit-batch.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { KeyRevision, RangeRevisions } from "../read-set.ts";
import type { Change } from "../write-set.ts";
import { MalformedFrame } from "./byte-reader.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";

const kindCodes = { put: 0, delete: 1, add: 2 } as const;
/** Dependencies refer to attempts by a 16-bit index. */
const attemptsMax = 0xffff;

/** Writes a batch in the format that `readBatch` reads. Dependencies are written as indexes of
 *  earlier attempts of the batch. */
export function writeBatch(to: ByteWriter, batch: CommitBatch): void {
  to.number(batch.sequence);
  to.uint32(batch.ignoredOwner);
  to.uint8(batch.mayUseReserve ? 1 : 0);
  to.uint32(batch.conflicts);
  const indexes = new Map<PendingAttempt, number>();
  to.uint32(batch.attempts.length);
  for (const [index, attempt] of batch.attempts.entries()) {
    indexes.set(attempt, index);
    to.uint8(batch.starving.has(attempt) ? 1 : 0);
    writeAttempt(to, attempt, indexes);
  }
}

function writeAttempt(
  to: ByteWriter,
  { now, dependencies, keyReads, rangeReads, changes }: PendingAttempt,
  indexes: ReadonlyMap<PendingAttempt, number>,
): void {
  to.int64(now);
  const needed = [...dependencies];
  to.uint32(needed.length);
  for (const each of needed) {
    const index = indexes.get(each);
    if (index === undefined) throw new Error("an attempt depends on one outside its batch");
    to.uint16(index);
  }
  const reads = [...keyReads];
  to.uint32(reads.length);
  for (const [text, { revision }] of reads) writeRevision(to, text, revision);
  to.uint32(rangeReads.length);
  for (const { start, end, entries } of rangeReads) {
    to.text(start);
    to.text(end);
    to.uint32(entries.length);
    for (const { text, revision } of entries) writeRevision(to, text, revision);
  }
  to.uint32(changes.count);
  for (const change of changes.inInsertionOrder()) writeChange(to, change);
}

function writeRevision(to: ByteWriter, text: KeyText, revision: number): void {
  to.text(text);
  to.number(revision);
}

function writeChange(to: ByteWriter, change: Change): void {
  to.uint8(kindCodes[change.kind]);
  to.text(change.text);
  if (change.kind === "put") to.bytes(change.value);
  else if (change.kind === "add") to.int64(change.delta);
}

/** The process that sent a batch, and the record of the batch. */
export interface BatchOrigin {
  readonly owner: number;
  readonly record: BatchRecordPosition;
}

/** Reads a batch. Throws `MalformedFrame` if a value is out of range, a key is invalid or a
 *  dependency does not precede its attempt. */
export function readBatch(from: ByteReader, { owner, record }: BatchOrigin): CommitBatch {
  const sequence = from.number();
  const ignoredOwner = from.uint32();
  const mayUseReserve = from.uint8() === 1;
  const conflicts = from.uint32();
  const starving = new Set<PendingAttempt>();
  const attempts: PendingAttempt[] = [];
  from.list((index) => {
    if (index > attemptsMax) throw new MalformedFrame("too many attempts");
    const isStarving = from.uint8() === 1;
    const attempt = readAttempt(from, attempts);
    attempts.push(attempt);
    if (isStarving) starving.add(attempt);
  });
  return {
    attempts,
    starving,
    sequence,
    owner,
    ignoredOwner,
    mayUseReserve,
    conflicts,
    record,
  };
}

function readAttempt(from: ByteReader, earlier: readonly PendingAttempt[]): PendingAttempt {
  const now = from.int64();
  const dependencies = from.list(() => {
    const found = earlier[from.uint16()];
    if (found === undefined) throw new MalformedFrame("dependency on a later attempt");
    return found;
  });
  const keyReads = from.list((): readonly [KeyText, KeyRevision] => {
    const key = from.key();
    return [textOfKey(key), { key, revision: from.number() }];
  });
  const rangeReads = from.list((): RangeRevisions => {
    const [start, end] = [from.text(), from.text()];
    const entries = from.list(() => ({ text: from.text(), revision: from.number() }));
    return { start, end, entries };
  });
  const changes = new DecodedChanges(from.list(() => readChange(from)));
  return { now, dependencies, keyReads, rangeReads, changes };
}

function readChange(from: ByteReader): Change {
  const kind = from.uint8();
  const key = from.key();
  if (key.length === 0 || key.length > keyBytesMax || key[0] === 0) {
    throw new MalformedFrame("change of an invalid key");
  }
  const text = textOfKey(key);
  if (kind === kindCodes.put) return { kind: "put", key, text, value: from.bytes() };
  if (kind === kindCodes.delete) return { kind: "delete", key, text };
  if (kind === kindCodes.add) return { kind: "add", key, text, delta: from.int64() };
  throw new MalformedFrame("unknown kind of change");
}

/** The changes of an attempt that another process sent. */
class DecodedChanges {
  readonly #changes: readonly Change[];

  constructor(changes: readonly Change[]) {
    this.#changes = changes;
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  get count(): number {
    return this.#changes.length;
  }

  inInsertionOrder(): Iterable<Change> {
    return this.#changes;
  }
}
