import type { Key } from "./store.ts";

/** A key as a string of one code unit per byte: it can be the key of a `Map`, and `<` on such
 *  strings is byte order. */
export type KeyText = string;

export function textOfKey(key: Key): KeyText {
  return asBuffer(key).latin1Slice();
}

export function keyOfText(text: KeyText): Key {
  const buffer = Buffer.from(text, "latin1");
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

function asBuffer(key: Key): Buffer & { latin1Slice(): string } {
  const buffer = Buffer.from(key.buffer, key.byteOffset, key.length);
  return buffer as Buffer & { latin1Slice(): string };
}
