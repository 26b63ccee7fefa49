import type { BatchRecordPosition, CommitBatch, PendingAttempt } from "../commit-batch.ts";
import type { EngineReader, EngineWrite } from "../engine.ts";
import { keyOfText } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Value } from "../store.ts";

/** The record of the last batch of a follower that was decided. It is written in the commit of the
 *  batch, so a follower that lost its leader learns from it whether the batch was committed. */
export interface BatchRecord {
  /** Number of the batch; a follower numbers its batches in ascending order. */
  readonly number: number;
  /** False: the follower has fenced the batch, and no leader may commit it any more. */
  readonly isCommitted: boolean;
  /** Indexes of the attempts that were not committed. */
  readonly dropped: readonly number[];
}

/** Keys that start with `00 03` are batch records; the rest is the follower's id. */
export const recordPrefix: KeyText = "\u0000\u0003";
/** The first text after all batch records. */
export const recordsEnd: KeyText = "\u0000\u0004";
const headerBytes = 9;
const indexBytes = 2;

/** The key of a follower's batch record, with the number of one of its batches. */
export function recordPosition(follower: string, number: number): BatchRecordPosition {
  const text = recordPrefix + follower;
  return { key: keyOfText(text), text, number };
}

/** The record of the last decided batch of a follower; undefined if none was decided. */
export function readBatchRecord(
  { key, text }: Pick<BatchRecordPosition, "key" | "text">,
  current: EngineReader,
): BatchRecord | undefined {
  const value = current.get(key, text)?.value;
  return value === undefined ? undefined : decodeBatchRecord(value);
}

/** Whether the batch was already committed or fenced. */
export function isDecided(position: BatchRecordPosition, current: EngineReader): boolean {
  return (readBatchRecord(position, current)?.number ?? 0) >= position.number;
}

/** The engine write that stores a batch record. */
export function batchRecordWrite(
  { key, text }: BatchRecordPosition,
  record: BatchRecord,
  revision: number,
): EngineWrite {
  return { key, text, value: encodeBatchRecord(record), revision };
}

/** Positions of the dropped attempts in the batch. */
export function droppedIndexes(
  { attempts }: Pick<CommitBatch, "attempts">,
  dropped: ReadonlySet<PendingAttempt>,
): number[] {
  const indexes: number[] = [];
  if (dropped.size === 0) return indexes;
  for (const [index, attempt] of attempts.entries()) if (dropped.has(attempt)) indexes.push(index);
  return indexes;
}

/** The inverse of `droppedIndexes`: the attempts with these indexes. */
export function attemptsAt(
  { attempts }: Pick<CommitBatch, "attempts">,
  indexes: readonly number[],
): ReadonlySet<PendingAttempt> {
  return new Set(indexes.flatMap((index) => attempts[index] ?? []));
}

function encodeBatchRecord({ number, isCommitted, dropped }: BatchRecord): Value {
  const value = Buffer.alloc(headerBytes + indexBytes * dropped.length);
  value.writeDoubleLE(number, 0);
  value.writeUInt8(isCommitted ? 1 : 0, 8);
  for (const [at, index] of dropped.entries()) {
    value.writeUInt16LE(index, headerBytes + indexBytes * at);
  }
  return value;
}

function decodeBatchRecord(value: Value): BatchRecord {
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const count = (value.length - headerBytes) / indexBytes;
  return {
    number: view.getFloat64(0, true),
    isCommitted: view.getUint8(8) === 1,
    dropped: Array.from({ length: count }, (_, at) =>
      view.getUint16(headerBytes + indexBytes * at, true),
    ),
  };
}
