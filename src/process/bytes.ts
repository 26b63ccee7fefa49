/** Allocates small byte arrays as parts of shared slabs of 64 KiB. A typed array with a buffer of
 *  its own is an allocation outside the heap that the garbage collector has to track. Saves 10 % of
 *  the CPU time of a read and 20 % of a query. Code that keeps such bytes for long must copy them
 *  again, because a few bytes keep a whole slab in memory. */
const slabBytes = 64 * 1024;
/** Longer arrays get a buffer of their own. */
const pieceBytesMax = 8 * 1024;
/** Up to this length a loop is faster than a native copy: 3 % of a transaction of 100. */
const loopBytesMax = 64;

let slab = new Uint8Array(slabBytes);
let used = 0;

/** Copies bytes, for example from a buffer that is about to be reused. */
export function copyBytes(bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  const length = to - from;
  // Not `slice`: on a Buffer it returns a view.
  if (length > pieceBytesMax) return new Uint8Array(bytes.subarray(from, to));
  const copy = newBytes(length);
  // Not `subarray`: on a Buffer it creates another Buffer, which costs twice as much.
  if (length > loopBytesMax)
    copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, length));
  else for (let at = 0; at < length; at += 1) copy[at] = bytes[from + at]!;
  return copy;
}

/** Returns zeroed bytes that no other caller gets, from a slab if they are few. */
export function newBytes(length: number): Uint8Array {
  if (length > pieceBytesMax) return new Uint8Array(length);
  if (used + length > slabBytes) {
    slab = new Uint8Array(slabBytes);
    used = 0;
  }
  used += length;
  return new Uint8Array(slab.buffer, used - length, length);
}

/** A closed port: what is transferred to it is freed at once. */
const nowhere = new MessageChannel().port1;
nowhere.close();
/** Freeing fewer bytes costs more than it saves. */
const freedBytesMin = 16 * 1024;

/** Frees many bytes that are not read again, if their memory is not shared with others. Otherwise
 *  the memory of large bodies would be freed by collections of the whole heap, one for every 20 MiB
 *  received, each of which costs as much as receiving them. */
export function freeBytes({ buffer, length }: Uint8Array): void {
  const isWhole = length === buffer.byteLength && length >= freedBytesMin;
  if (isWhole && buffer instanceof ArrayBuffer) nowhere.postMessage(null, [buffer]);
}

/** Size of a page of a large response. */
export const pageBytes = 64 * 1024;
/** Most unused pages that are kept. */
const freePagesMax = 128;

/** Unused pages, kept for reuse. Memory outside the heap causes full garbage collections, however
 *  briefly it is used. Saves 6 % of the CPU time of a listing whose entries are cached
 *  (docs/adr/012-reusable-response-pages.md). */
const freePages: Buffer[] = [];

export function takePage(): Buffer {
  return freePages.pop() ?? Buffer.allocUnsafeSlow(pageBytes);
}

/** Takes back a page that nothing reads any more. */
export function returnPage(page: Buffer): void {
  if (freePages.length < freePagesMax) freePages.push(page);
}

/** Bytes in which a key is encoded before it is copied (`encoding/keys.ts`): long enough for a key
 *  of 4,000 UTF-16 code units, of which each takes three bytes. */
export const keyScratch = new Uint8Array(16 * 1024);
