import type { QueryConfig } from "pg";

import type { ScanBounds, VersionedEntry } from "../engine.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";
import { byteaArray } from "./binary-array.ts";
import { boundOf, keyOfRow, rowKey } from "./row-key.ts";

/** Named statements are planned once per connection. */
const getText = `SELECT w.place, e.stamp, e.value
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS w(head, digest, place)
  JOIN entry e ON e.head = w.head AND e.digest = w.digest`;
const scanText = (direction: "ASC" | "DESC"): string =>
  `SELECT head, tail, stamp, value FROM entry
     WHERE head >= $1 AND head <= $3 AND (head, tail) >= ($1, $2) AND (head, tail) < ($3, $4)
     ORDER BY head ${direction}, tail ${direction} LIMIT $5`;
const scanForward = scanText("ASC");
const scanBackward = scanText("DESC");

export interface PlannedKey {
  readonly key: Key;
  readonly text: KeyText;
}

export type GetRow = [place: string, stamp: string, value: Buffer];
export type ScanRow = [head: Buffer, tail: Buffer, stamp: string, value: Buffer];

export function getQuery(keys: readonly PlannedKey[]): QueryConfig & { rowMode: "array" } {
  const rows = keys.map(({ key }) => rowKey(key));
  const values = [
    byteaArray(rows.map(({ head }) => head)),
    byteaArray(rows.map(({ digest }) => digest)),
  ];
  return { name: "get", text: getText, values, rowMode: "array" };
}

/** Entries in the order of `keys`; `undefined` for absent keys. */
export function entriesOf(
  keys: readonly PlannedKey[],
  rows: readonly GetRow[],
): (VersionedEntry | undefined)[] {
  const found: (VersionedEntry | undefined)[] = keys.map(() => undefined);
  for (const [position, stamp, value] of rows) {
    const index = Number(position) - 1;
    const { key, text } = keys[index] as PlannedKey;
    found[index] = { key, text, value: plainBytes(value), revision: Number(stamp) };
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

export function entryOf([head, tail, stamp, value]: ScanRow): VersionedEntry {
  const key = keyOfRow(plainBytes(head), plainBytes(tail));
  return { key, text: textOfKey(key), value: plainBytes(value), revision: Number(stamp) };
}

/** Converts a Buffer to a plain Uint8Array, as the `Store` interface requires. */
export function plainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
