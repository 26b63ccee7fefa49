import { createHash, hash, type Hash } from "node:crypto";
import type { Awaitable } from "../../base/awaitable.ts";
import type { Md5Sum } from "./md5-thread.ts";
import { memo } from "../../process/memo.ts";
import { copyInto, isInMemory, scratch, crcResults, firstCrcBytes } from "../../process/bytes.ts";
import { continueCrc, crcOfHalves } from "./crc64-program.ts";

/** MD5 and CRC64 of content: for the checksum headers of requests and responses (`receive.ts`,
 *  `structured.ts`, `http/`), and for the CRC64 that is stored with each slice to detect damage.
 *  The CRC of a body follows from those of its chunks by arithmetic with polynomials
 *  (`combineCrc64`), so that no byte is read twice. */

const noop = (): void => undefined;

/** Uses the one-shot hash, which is faster than `createHash` for small bodies. Takes the digest as
 *  text: a Buffer is memory outside the heap, whose allocation would take a third of the time. */
export function md5Of(bytes: Uint8Array): Uint8Array {
  const text = hash("md5", bytes, "binary");
  const digest = new Uint8Array(md5Bytes);
  for (let at = 0; at < md5Bytes; at += 1) digest[at] = text.charCodeAt(at);
  return digest;
}

const md5Bytes = 16;

/** Which checksums to compute while a body is received: those that the client sent or requests. */
interface ChecksumOptions {
  readonly md5: boolean;
  readonly crc64: boolean;
}

/** Computes the checksums of a body that arrives in chunks. A body of one chunk, as most are, uses
 *  the faster one-shot hash. */
export class BodyChecksums {
  readonly #options: ChecksumOptions;
  /** Computes the MD5 of a large body on a thread; undefined: the event loop computes it. */
  readonly #threadMd5: Md5Sum | undefined;
  #md5: Hash | undefined;
  #threadDigest: Promise<Uint8Array> | undefined;
  #singleDigest: Uint8Array | undefined;
  #crc64 = crc64OfNothing;

  /** Resolves when the thread has read the bytes of all updates, so that buffers may be reused. */
  hashed: Promise<void> | undefined;

  constructor(wanted: ChecksumOptions, threadMd5?: Md5Sum) {
    this.#options = wanted;
    this.#threadMd5 = wanted.md5 ? threadMd5 : undefined;
  }

  /** Returns the CRC64 of this chunk alone, if CRC64 is requested. The bytes must not be changed
   *  before `hashed` resolves. */
  update(bytes: Uint8Array, last: boolean): bigint | undefined {
    if (this.#threadMd5 !== undefined) this.#updateOnThread(bytes, last, this.#threadMd5);
    else if (this.#options.md5) this.#updateMd5(bytes, last);
    if (!this.#options.crc64) return undefined;
    const crc = crc64Of(bytes);
    this.#crc64 = combineCrc64(this.#crc64, crc, bytes.length);
    return crc;
  }

  md5(): Awaitable<Uint8Array | undefined> {
    if (!this.#options.md5) return undefined;
    if (this.#threadMd5 !== undefined) return this.#threadDigest ?? this.#threadMd5.digest();
    return this.#singleDigest ?? this.#md5?.digest() ?? md5Of(new Uint8Array(0));
  }

  crc64(): bigint | undefined {
    return this.#options.crc64 ? this.#crc64 : undefined;
  }

  /** Called instead of `md5` if a body was cut off: the thread then frees its state. */
  abandon(): void {
    if (this.#threadDigest === undefined) this.#threadMd5?.abandon();
  }

  #updateOnThread(bytes: Uint8Array, last: boolean, sum: Md5Sum): void {
    if (last) this.#threadDigest = sum.digest(bytes);
    this.hashed = this.#threadDigest?.then(noop) ?? sum.update(bytes);
    // A failure is thrown where the promise is awaited; here it must not count as unhandled.
    this.hashed.catch(() => undefined);
  }

  #updateMd5(bytes: Uint8Array, last: boolean): void {
    if (last && this.#md5 === undefined) this.#singleDigest = md5Of(bytes);
    else (this.#md5 ??= createHash("md5")).update(bytes);
  }
}

/** The polynomial of CRC-64/NVME, reflected (the lowest power is the top bit), in two halves:
 *  bitwise operators of JavaScript have 32 bits. The CRC begins and ends inverted. */
const polynomialHigh = 0x9a6c9329 | 0;
const polynomialLow = 0xac4bc9b5 | 0;
const topBit = 0x80000000 | 0;
/** Number of powers `x^(2^n)` in `powers`: enough for the exponent `8 · 2^53`, the bits of the
 *  longest possible body. */
const powersMax = 57;
/** Limit of the lengths for which `operatorFor` caches its result. */
const operatorsMax = 64;
/** From this length on, the CRCs of both halves are computed side by side (`crc64-program.ts`) and
 *  then combined, which is faster; for fewer bytes, combining costs more than it saves. */
const halvedBytesMin = 8 * 1024;

/** A polynomial of degree below 64, reflected: the top bit of `high` is the constant term. */
interface Polynomial {
  readonly high: number;
  readonly low: number;
}

/** The CRC64 of no bytes, with which every computation begins. */
export const crc64OfNothing = 0n;

export function crc64Of(bytes: Uint8Array): bigint {
  if (isInMemory(bytes)) return crc64InMemory(crc64OfNothing, bytes.byteOffset, bytes.length);
  let crc = crc64OfNothing;
  for (let from = 0; from < bytes.length; from += scratch.length) {
    const length = Math.min(scratch.length, bytes.length - from);
    copyInto(scratch, bytes.subarray(from, from + length), 0);
    crc = crc64InMemory(crc, scratch.byteOffset, length);
  }
  return crc;
}

/** Continues the CRC `before` with bytes in the memory of the WebAssembly program. This process
 *  allocates the buffers of bodies there (`process/bytes.ts`), so most need no copy. */
function continueCrc64(before: bigint, at: number, length: number): bigint {
  crcResults[0] = before;
  continueCrc(at, length);
  return crcResults[0];
}

function crc64InMemory(before: bigint, at: number, length: number): bigint {
  if (length < halvedBytesMin) return continueCrc64(before, at, length);
  const half = Math.floor(length / 16) * 8;
  crcOfHalves(at, half);
  const [first = 0n, second = 0n] = crcResults;
  const halves = combineCrc64(combineCrc64(before, first, half), second, half);
  return continueCrc64(halves, at + 2 * half, length - 2 * half);
}

/** The CRC64 of bytes as headers contain it. Small ones need no conversion to `bigint`. */
export function crc64BytesOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length >= halvedBytesMin) return crc64Bytes(crc64Of(bytes));
  copyInto(scratch, bytes, 0);
  crcResults[0] = crc64OfNothing;
  continueCrc(scratch.byteOffset, bytes.length);
  return new Uint8Array(firstCrcBytes);
}

/** A CRC64 as headers contain it: 8 bytes, little-endian. */
export function crc64Bytes(crc: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, crc, true);
  return bytes;
}

/** The CRC of two adjacent parts of a body, from that of each, without reading any bytes. */
export function combineCrc64(first: bigint, second: bigint, secondLength: number): bigint {
  if (secondLength === 0) return first;
  if (first === crc64OfNothing) return second;
  const shifted = multiply(operatorFor(secondLength), {
    high: Number(first >> 32n) | 0,
    low: Number(first & 0xffff_ffffn) | 0,
  });
  return ((BigInt(shifted.high >>> 0) << 32n) | BigInt(shifted.low >>> 0)) ^ second;
}

const powers = powersOfTwo();

/** `x^(8 · length)` modulo the polynomial: multiplied with it, a CRC becomes that of the same bytes
 *  followed by `length` zeros. Cached, because bodies arrive in chunks of few different lengths. */
const operatorFor = memo(operatorsMax, (length: number): Polynomial => {
  let product: Polynomial = { high: topBit, low: 0 };
  let rest = length;
  for (let power = 3; rest > 0; power += 1) {
    if (rest % 2 === 1) product = multiply(powers[power] ?? product, product);
    rest = Math.floor(rest / 2);
  }
  return product;
});

/** `x^(2^index)` for each index, from which `operatorFor` multiplies any power. */
function powersOfTwo(): readonly Polynomial[] {
  const list: Polynomial[] = [];
  let power: Polynomial = { high: topBit >>> 1, low: 0 };
  for (let index = 0; index < powersMax; index += 1) {
    list.push(power);
    power = multiply(power, power);
  }
  return list;
}

/** Multiplies modulo the polynomial of the CRC, one bit of `left` at a time. */
function multiply(left: Polynomial, right: Polynomial): Polynomial {
  let { high, low } = right;
  let productHigh = 0;
  let productLow = 0;
  for (let bit = 0; bit < 64; bit += 1) {
    const word = bit < 32 ? left.high : left.low;
    if ((word & (topBit >>> (bit & 31))) !== 0) {
      productHigh ^= high;
      productLow ^= low;
    }
    const carry = low & 1;
    low = (low >>> 1) | ((high & 1) << 31);
    high >>>= 1;
    if (carry !== 0) {
      high ^= polynomialHigh;
      low ^= polynomialLow;
    }
  }
  return { high: productHigh, low: productLow };
}
