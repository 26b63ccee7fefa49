/** Size of the buffers in which large bodies are collected. */
export const bufferBytes = 512 * 1024;
/** Writes past the system's cache take whole blocks, from memory that is aligned to them. */
export const blockBytes = 4096;

/** Most aligned buffers: 48 MiB. */
const alignedMax = 96;
/** Size of the buffers of bodies that get no aligned one. */
export const otherBufferBytes = 256 * 1024;
const pageBytes = 64 * 1024;
const pagesPerBuffer = bufferBytes / pageBytes;
/** A page for the CRC-64, and one of scratch. */
const pagesBefore = 2;

/** The types of Node.js omit WebAssembly. */
interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  /** Returns the number of pages before. */
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
  maximum: pagesBefore + alignedMax * pagesPerBuffer,
  shared: true,
});
/** Where the program of the CRC-64 stores its results: after its eight tables of 256 words. */
export const crcResultsAt = 8 * 256 * 8;
/** The results: of `continueCrc` the first, which is also its start value. */
export const crcResults = new BigUint64Array(bufferMemory.buffer, crcResultsAt, 2);
/** The first result, little-endian. */
export const firstCrcBytes = new Uint8Array(bufferMemory.buffer, crcResultsAt, 8);
/** Bytes outside this memory are copied here, because the CRC program reads only its own memory. */
export const scratch = Buffer.from(bufferMemory.buffer, pageBytes, pageBytes);
/** The array buffers of this memory: each time it grows, Node returns another object for it, and
 *  buffers that were taken before refer to the earlier one. */
const alignedMemory = new WeakSet<ArrayBufferLike>([bufferMemory.buffer]);
const free: Buffer[] = [];
let allocated = 0;

/** Whether bytes are a buffer of this pool or begin at a block of one. */
export function isAligned(bytes: Uint8Array): boolean {
  return isInMemory(bytes) && bytes.byteOffset % blockBytes === 0;
}

/** Whether bytes are in the memory of this pool, at their `byteOffset`. */
export function isInMemory({ buffer }: Uint8Array): boolean {
  return alignedMemory.has(buffer);
}

/** `set` would copy bytes one by one if either memory is shared and both are not equally aligned,
 *  at a tenth of the speed. */
export function copyInto(buffer: Buffer, bytes: Uint8Array, at: number): void {
  if (bytes.length > 0) buffer.fill(bytes, at, at + bytes.length);
}

/** A buffer that other threads can read, aligned unless too many are in use, otherwise smaller. */
export function acquireBuffer(): Buffer {
  return acquireAligned(0) ?? Buffer.from(new SharedArrayBuffer(otherBufferBytes));
}

/** An aligned buffer; undefined if no more than `keptFree` are unused. */
export function acquireAligned(keptFree: number): Buffer | undefined {
  const unused = alignedMax - allocated + free.length;
  if (unused <= keptFree) return undefined;
  return free.pop() ?? allocate();
}

/** Takes back a buffer that nothing reads or writes any more. */
export function releaseBuffer(buffer: Buffer): void {
  if (isAligned(buffer)) free.push(buffer);
}

/** Copies nothing: growing shared memory keeps its place. */
function allocate(): Buffer {
  const page = bufferMemory.grow(pagesPerBuffer);
  allocated += 1;
  const { buffer } = bufferMemory;
  alignedMemory.add(buffer);
  return Buffer.from(buffer, page * pageBytes, bufferBytes);
}
