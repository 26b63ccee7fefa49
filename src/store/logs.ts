import type { KeyBounds } from "../encoding/keys.ts";
import type { Key } from "./store.ts";

/** Logs in the key space: lists to which transactions append, and which are read in commit order.
 *  An example is the event log of an account (`account/event-log.ts`). The sequence of a commit is
 *  part of the keys of its entries. It is known only at the commit, so the store inserts it then
 *  (`Transaction.append`). */

/** The position of an entry in a log: the sequence of the commit that appended it, and its number
 *  among the entries that the same transaction appended to the log. */
export interface LogPosition {
  readonly sequence: number;
  readonly number: number;
}

/** Kinds of the two parts that follow the key of a log: a big integer of 8 bytes and a number of
 *  2 (`encoding/keys.ts`). Unlike in other keys, lengths are fixed: a database inserts the
 *  sequence. */
const sequenceKind = 0x28;
const numberKind = 0x12;
const sequenceEnd = 9;
/** Length of the encoded position, which follows the key of the log. */
const positionBytes = 12;
/** Limit of the entries that a transaction can append: their numbers have 16 bits. */
export const appendsMax = 0x1_0000;

/** The key of an entry of a log; keys are ordered by position. */
export function keyInLog(log: Key, { sequence, number }: LogPosition): Key {
  const key = new Uint8Array(log.length + positionBytes);
  key.set(log);
  const view = new DataView(key.buffer, log.length);
  view.setUint8(0, sequenceKind);
  view.setBigUint64(1, BigInt(sequence));
  key.set(numberPart(number), log.length + sequenceEnd);
  return key;
}

/** The last bytes of the key of an entry of a log, which a database appends to the sequence. */
export function numberPart(number: number): Uint8Array {
  return Uint8Array.of(numberKind, number >> 8, number & 0xff);
}

/** The key of an entry of a log with sequence 0: the encryption of its value authenticates this
 *  key, because the sequence is not known before the commit. */
export function keyWithoutSequence(key: Key): Key {
  const known = key.slice();
  known.fill(0, key.length - positionBytes + 1, key.length - positionBytes + sequenceEnd);
  return known;
}

export function positionInLog(key: Key): LogPosition {
  const view = new DataView(key.buffer, key.byteOffset + key.length - positionBytes, positionBytes);
  return { sequence: Number(view.getBigUint64(1)), number: view.getUint16(sequenceEnd + 1) };
}

/** The range of the entries after a position, of commits up to `sequence`. Undefined `after`: from
 *  the first one. */
export function logBounds(log: Key, after: LogPosition | undefined, sequence: number): KeyBounds {
  const first = after === undefined ? { sequence: 0, number: 0 } : successorOf(after);
  return {
    start: keyInLog(log, first),
    end: keyInLog(log, { sequence: sequence + 1, number: 0 }),
  };
}

function successorOf({ sequence, number }: LogPosition): LogPosition {
  const isLast = number + 1 === appendsMax;
  return isLast ? { sequence: sequence + 1, number: 0 } : { sequence, number: number + 1 };
}

export function comparePositions(left: LogPosition, right: LogPosition): number {
  return left.sequence - right.sequence || left.number - right.number;
}
