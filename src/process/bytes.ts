/** Pools of memory that all servers of the process share: slabs for small byte arrays, pages of
 *  responses, and aligned buffers for bodies. Each saves measured CPU time of allocations and
 *  garbage collections. */

/** Allocates small byte arrays as parts of shared slabs of 64 KiB. A typed array with a buffer of
 *  its own is an allocation outside the heap that the garbage collector has to track. Saves 10 % of
 *  the CPU time of a read and 20 % of a query. Code that keeps such bytes for long must copy them
 *  again, because a few bytes keep a whole slab in memory. */
const slabBytes = 64 * 1024;
/** Longest array in a slab. Longer ones get separate buffers, as few would fit into a slab. */
const pieceBytesMax = 8 * 1024;
/** Up to this length a loop is faster than a native copy. Saves 3 % of the CPU time of a table
 *  transaction of 100 writes. */
const loopBytesMax = 64;

let slab = new ArrayBuffer(slabBytes);
let used = 0;

/** Copies bytes, for example from a buffer that is about to be reused. */
export function copyBytes(bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  const length = to - from;
  // Does not use `slice`, which returns a view if the array is a Buffer.
  if (length > pieceBytesMax) return new Uint8Array(bytes.subarray(from, to));
  const copy = newBytes(length);
  // Does not use `subarray`, which creates another Buffer if the array is a Buffer; this would cost
  // twice as much.
  if (length > loopBytesMax)
    copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, length));
  else for (let at = 0; at < length; at += 1) copy[at] = bytes[from + at]!;
  return copy;
}

/** Returns zeroed bytes that no other caller gets, from a slab if they are few. */
export function newBytes(length: number): Uint8Array {
  if (length > pieceBytesMax) return new Uint8Array(length);
  if (used + length > slabBytes) {
    slab = new ArrayBuffer(slabBytes);
    used = 0;
  }
  used += length;
  return new Uint8Array(slab, used - length, length);
}

/** A closed port: what is transferred to it is freed at once. */
const nowhere = new MessageChannel().port1;
nowhere.close();
/** Least bytes that are freed by a transfer: for fewer, it costs more than it saves. */
const freedBytesMin = 16 * 1024;

/** Frees many bytes that are not read again, if no other array shares their buffer. Otherwise
 *  collections of the whole heap would free the memory of large bodies: one for every 20 MiB
 *  received, each of which costs as much as receiving 20 MiB. */
export function freeBytes({ buffer, length }: Uint8Array): void {
  const isWhole = length === buffer.byteLength && length >= freedBytesMin;
  if (isWhole && buffer instanceof ArrayBuffer) nowhere.postMessage(null, [buffer]);
}

export const pageBytes = 64 * 1024;
/** Most unused pages that are kept for reuse: 8 MiB. */
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

/** Size of the buffers in which large bodies are collected. */
export const bufferBytes = 512 * 1024;
/** Size of a block. Writes past the system's cache (direct I/O) take whole blocks, from memory that
 *  is aligned to them. */
export const blockBytes = 4096;

/** Most aligned buffers: 48 MiB in total. */
const alignedMax = 96;
/** Size of the buffers that bodies get while all aligned ones are in use: smaller, so that many
 *  bodies take less memory. */
export const otherBufferBytes = 256 * 1024;
const bodyPageBytes = 64 * 1024;
const pagesPerBuffer = bufferBytes / bodyPageBytes;
/** Limit of the buffers for encrypted bytes, 9 MiB in total: each is filled and written at once. */
const sealedMax = 16;
/** Takes the encrypted bytes of a buffer and a block of seals
 *  (`content/extents/sealed-layout.ts`). */
const pagesPerSealed = pagesPerBuffer + 1;
/** Pages before the buffers: one for the CRC-64, one for `scratch`. */
const pagesBefore = 2;

/** The part of `WebAssembly.Memory` that is used here; the types of Node.js do not declare it. */
interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  /** Returns the number of pages before the call. */
  grow(pages: number): number;
}
type MemoryClass = new (options: {
  initial: number;
  maximum: number;
  shared: true;
}) => SharedMemory;
interface WebAssemblyTypes {
  readonly Memory: MemoryClass;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Record<string, Record<string, SharedMemory>>,
  ) => { readonly exports: object };
}
export const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: WebAssemblyTypes;
};

/** The only memory of Node.js that begins at a page. It takes address space now, and memory when
 *  buffers are used. */
export const bufferMemory = new WebAssembly.Memory({
  initial: pagesBefore,
  maximum: pagesBefore + alignedMax * pagesPerBuffer + sealedMax * pagesPerSealed,
  shared: true,
});
/** Where the program of the CRC-64 stores its results: after its eight tables of 256 words. */
export const crcResultsAt = 8 * 256 * 8;
/** The results of the CRC program. The first one is also the start value of `continueCrc`, which
 *  uses no other. */
export const crcResults = new BigUint64Array(bufferMemory.buffer, crcResultsAt, 2);
/** The first CRC result in the shared memory, little-endian. */
export const firstCrcBytes = new Uint8Array(bufferMemory.buffer, crcResultsAt, 8);
/** Bytes outside this memory are copied here, because the CRC program reads only its own memory. */
export const scratch = Buffer.from(bufferMemory.buffer, bodyPageBytes, bodyPageBytes);
/** The array buffers of this memory: each time it grows, Node returns another object for it, and
 *  buffers that were taken before refer to the earlier one. */
const alignedMemory = new WeakSet<ArrayBufferLike>([bufferMemory.buffer]);
const free: Buffer[] = [];
const freeSealed: Buffer[] = [];
let allocated = 0;
let allocatedSealed = 0;

/** Whether bytes are a buffer of this pool or begin at a block of one. */
export function isAligned(bytes: Uint8Array): boolean {
  return isInMemory(bytes) && bytes.byteOffset % blockBytes === 0;
}

/** Whether bytes are in the memory of this pool; their `byteOffset` is then an offset in it. */
export function isInMemory({ buffer }: Uint8Array): boolean {
  return alignedMemory.has(buffer);
}

/** Copies bytes into a buffer. Uses `fill`, because `set` would copy bytes one by one if either
 *  memory is shared and both are not equally aligned, at a tenth of the speed. */
export function copyInto(buffer: Buffer, bytes: Uint8Array, at: number): void {
  if (bytes.length > 0) buffer.fill(bytes, at, at + bytes.length);
}

/** Returns a buffer that other threads can read, for a body: an aligned one, or a smaller one if
 *  too many are in use. */
export function acquireBuffer(): Buffer {
  return acquireAligned(0) ?? Buffer.from(new SharedArrayBuffer(otherBufferBytes));
}

/** Returns an aligned buffer; undefined if no more than `keptFree` are unused, which then stay for
 *  other callers. */
export function acquireAligned(keptFree: number): Buffer | undefined {
  const unused = alignedMax - allocated + free.length;
  if (unused <= keptFree) return undefined;
  return free.pop() ?? allocate();
}

/** Takes back a buffer that nothing reads or writes any more. */
export function releaseBuffer(buffer: Buffer): void {
  if (isAligned(buffer)) free.push(buffer);
}

/** An aligned buffer for encrypted bytes; undefined if all are in use. */
export function acquireSealed(): Buffer | undefined {
  const unused = freeSealed.pop();
  if (unused !== undefined || allocatedSealed === sealedMax) return unused;
  allocatedSealed += 1;
  return grow(pagesPerSealed);
}

/** Takes back a buffer that nothing writes any more. */
export function releaseSealed(buffer: Buffer): void {
  freeSealed.push(buffer);
}

function allocate(): Buffer {
  allocated += 1;
  return grow(pagesPerBuffer);
}

/** Copies nothing: growing shared memory keeps its place. */
function grow(pages: number): Buffer {
  const page = bufferMemory.grow(pages);
  const { buffer } = bufferMemory;
  alignedMemory.add(buffer);
  return Buffer.from(buffer, page * bodyPageBytes, pages * bodyPageBytes);
}
