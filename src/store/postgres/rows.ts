import type { QueryConfig } from "pg";

import type { ScanBounds, ValueCodec, VersionedEntry } from "../engine.ts";
import { textOfKey, keyOfText, type KeyText } from "../../encoding/keys.ts";
import type { Key } from "../store.ts";
import { createHash } from "node:crypto";

/** How keys and values of the store become columns of the table `entry` and back, and the
 *  statements that read single keys and ranges. The other files of this folder build their SQL
 *  parameters with it. */

/** Text of the statement `get`. Statements have names, so that each connection plans them once. */
const getText = `SELECT w.place, e.stamp, e.value
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS w(head, digest, place)
  JOIN entry e ON e.head = w.head AND e.digest = w.digest`;
const scanText = (direction: "ASC" | "DESC"): string =>
  `SELECT head, tail, stamp, value FROM entry
     WHERE head >= $1 AND head <= $3 AND (head, tail) >= ($1, $2) AND (head, tail) < ($3, $4)
     ORDER BY head ${direction}, tail ${direction} LIMIT $5`;
const scanForward = scanText("ASC");
const scanBackward = scanText("DESC");

/** A key to read, with its text (bytes as characters), by which maps find it. */
export interface PlannedKey {
  readonly key: Key;
  readonly text: KeyText;
}

export type GetRow = [place: string, stamp: string, value: Buffer];
export type ScanRow = [head: Buffer, tail: Buffer, stamp: string, value: Buffer];

export function getQuery(keys: readonly PlannedKey[]): QueryConfig & { rowMode: "array" } {
  const rows = keys.map(({ key }) => rowKey(key));
  const values = byteaColumns(rows, "head", "digest");
  return { name: "get", text: getText, values, rowMode: "array" };
}

/** The entries that `getQuery` has found, in the order of `keys`; `undefined` for absent keys. */
export function entriesOf(
  keys: readonly PlannedKey[],
  rows: readonly GetRow[],
  values?: ValueCodec,
): (VersionedEntry | undefined)[] {
  const found: (VersionedEntry | undefined)[] = keys.map(() => undefined);
  for (const [position, stamp, value] of rows) {
    const index = Number(position) - 1;
    const { key, text } = keys[index] as PlannedKey;
    const entry = { key, text, value: plainBytes(value), revision: Number(stamp) };
    found[index] = values === undefined ? entry : values.decodeEntry(entry);
  }
  return found;
}

export function scanQuery(
  { start, end, reverse }: ScanBounds,
  countMax: number,
): QueryConfig & { rowMode: "array" } {
  const [first, last] = [boundOf(start), boundOf(end)];
  const values = [first.head, first.tail, last.head, last.tail].map((each) => Buffer.from(each));
  return {
    name: reverse ? "scan_backward" : "scan_forward",
    text: reverse ? scanBackward : scanForward,
    values: [...values, countMax],
    rowMode: "array",
  };
}

export function entryOf(
  [head, tail, stamp, value]: ScanRow,
  values: ValueCodec | undefined,
): VersionedEntry {
  const key = keyOfRow(plainBytes(head), plainBytes(tail));
  const revision = Number(stamp);
  const entry = { key, text: textOfKey(key), value: plainBytes(value), revision };
  return values === undefined ? entry : values.decodeEntry(entry);
}

/** Converts a Buffer of the driver to a plain Uint8Array, as the `Store` interface requires: some
 *  methods of Buffer, as `slice`, differ. */
export function plainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

/** Types of array elements. Arrays are sent in PostgreSQL's binary format, because the text format
 *  would double every byte. */
const byteaType = 17;
const bigintType = 20;
const headerBytes = 20;
const bigintBytes = 8;

export function byteaArray(items: readonly Uint8Array[]): Buffer {
  let length = headerBytes;
  for (const item of items) length += 4 + item.length;
  const array = withHeader(length, byteaType, items.length);
  let at = headerBytes;
  for (const item of items) {
    array.writeInt32BE(item.length, at);
    array.set(item, at + 4);
    at += 4 + item.length;
  }
  return array;
}

/** Converts rows to one array per field, because the statements take columns. */
export function byteaColumns<F extends string>(
  rows: readonly Readonly<Record<F, Uint8Array>>[],
  ...fields: readonly F[]
): Buffer[] {
  return fields.map((field) => byteaArray(rows.map((row) => row[field])));
}

export function bigintArray(items: readonly number[]): Buffer {
  const entryBytes = 4 + bigintBytes;
  const array = withHeader(headerBytes + entryBytes * items.length, bigintType, items.length);
  for (const [index, item] of items.entries()) {
    const at = headerBytes + index * entryBytes;
    array.writeInt32BE(bigintBytes, at);
    array.writeBigInt64BE(BigInt(item), at + 4);
  }
  return array;
}

/** Begins an array in PostgreSQL's binary format: one dimension, no nulls, element type, element
 *  count, lower bound 1. */
function withHeader(length: number, type: number, count: number): Buffer {
  const array = Buffer.allocUnsafe(length);
  const words = [1, 0, type, count, 1];
  for (const [index, word] of words.entries()) array.writeInt32BE(word, 4 * index);
  return array;
}

/**
 * A key as columns. An index entry has room for about 2,700 bytes and a key may have 4,000, so the
 * bytes beyond `headBytesMax` are stored in `tail`, outside the index, and their digest makes the
 * row unique. Keys compare as the pairs (head, tail) do: a non-empty tail follows a full head.
 *
 * Example: a key of 2,300 bytes has a head of 2,000, a tail of 300 and a digest of 32 bytes; a
 * shorter key has only a head.
 */
export interface RowKey {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly digest: Uint8Array;
}

const headBytesMax = 2000;
const none = new Uint8Array(0);

export function rowKey(key: Key): RowKey {
  if (key.length <= headBytesMax) return { head: key, tail: none, digest: none };
  const tail = key.subarray(headBytesMax);
  const digest = createHash("sha256").update(tail).digest();
  return { head: key.subarray(0, headBytesMax), tail, digest };
}

/** The columns with which a bound of a range is compared. A bound may be longer than a stored key,
 *  and needs no digest. */
export function boundOf(text: KeyText): Pick<RowKey, "head" | "tail"> {
  const key = keyOfText(text);
  return { head: key.subarray(0, headBytesMax), tail: key.subarray(headBytesMax) };
}

function keyOfRow(head: Uint8Array, tail: Uint8Array): Key {
  if (tail.length === 0) return head;
  const key = new Uint8Array(head.length + tail.length);
  key.set(head);
  key.set(tail, head.length);
  return key;
}
