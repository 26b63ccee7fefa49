/** A value of its own costs an allocation that the garbage collector has to track outside the heap;
 *  many small ones side by side cost one. */
const slabBytes = 64 * 1024;
const pieceBytesMax = 8 * 1024;

let slab = new Uint8Array(slabBytes);
let used = 0;

/** Copies bytes that are about to be reused. */
export function copyBytes(bytes: Uint8Array, from: number): Uint8Array {
  const length = bytes.length - from;
  if (length > pieceBytesMax) return bytes.slice(from);
  if (used + length > slabBytes) {
    slab = new Uint8Array(slabBytes);
    used = 0;
  }
  const copy = new Uint8Array(slab.buffer, used, length);
  copy.set(from === 0 ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset + from, length));
  used += length;
  return copy;
}
