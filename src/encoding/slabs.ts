/** Bytes of their own cost an allocation that the garbage collector has to track outside the heap;
 *  many small ones side by side cost one. Whoever keeps them for long copies them again: a few
 *  bytes would keep a whole slab alive. */
const slabBytes = 64 * 1024;
const pieceBytesMax = 8 * 1024;
/** Up to here a loop beats the call that copies. */
const loopBytesMax = 64;

let slab = new Uint8Array(slabBytes);
let used = 0;

/** Copies bytes that are about to be reused. */
export function copyBytes(bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  const length = to - from;
  // Not `slice`, which of a Buffer would be a view.
  if (length > pieceBytesMax) return new Uint8Array(bytes.subarray(from, to));
  const copy = newBytes(length);
  // `subarray` of a Buffer makes another Buffer, which costs twice as much.
  if (length > loopBytesMax)
    copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, length));
  else for (let at = 0; at < length; at += 1) copy[at] = bytes[from + at]!;
  return copy;
}

/** Room of its own in a slab. */
export function newBytes(length: number): Uint8Array {
  if (length > pieceBytesMax) return new Uint8Array(length);
  if (used + length > slabBytes) {
    slab = new Uint8Array(slabBytes);
    used = 0;
  }
  used += length;
  return new Uint8Array(slab.buffer, used - length, length);
}
