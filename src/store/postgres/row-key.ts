import { createHash } from "node:crypto";

import { keyOfText, type KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";

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

export const headBytesMax = 2000;
const none = new Uint8Array(0);

export function rowKey(key: Key): RowKey {
  if (key.length <= headBytesMax) return { head: key, tail: none, digest: none };
  const tail = key.subarray(headBytesMax);
  const digest = createHash("sha256").update(tail).digest();
  return { head: key.subarray(0, headBytesMax), tail, digest };
}

/** Columns of a range bound, which need not be a storable key and may be longer. */
export function boundOf(text: KeyText): Pick<RowKey, "head" | "tail"> {
  const key = keyOfText(text);
  return { head: key.subarray(0, headBytesMax), tail: key.subarray(headBytesMax) };
}

export function keyOfRow(head: Uint8Array, tail: Uint8Array): Key {
  if (tail.length === 0) return head;
  const key = new Uint8Array(head.length + tail.length);
  key.set(head);
  key.set(tail, head.length);
  return key;
}
