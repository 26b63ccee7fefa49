import type { Key } from "./store.ts";

/** A key as a string with one code unit per byte: it can be the key of a `Map`, and `<` compares
 *  such strings in byte order. */
export type KeyText = string;

export function textOfKey(key: Key, from = 0, to = key.length): KeyText {
  return latin1Slice.call(key, from, to);
}

export function keyOfText(text: KeyText): Key {
  const buffer = Buffer.from(text, "latin1");
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

/** Node's undocumented `latin1Slice`, called on a Uint8Array: wrapping each key in a Buffer first
 *  would double the cost. Saves 8 % of the CPU time of a query. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, from: number, to: number) => string;
};
