import { createCRC64 } from "hash-wasm";
import { RecentMap } from "../encoding/recent-map.ts";

/** CRC-64/NVME: reflected polynomial, initial and final value inverted. */
const polynomialHex = "9a6c9329ac4bc9b5";
const polynomialHigh = 0x9a6c9329 | 0;
const polynomialLow = 0xac4bc9b5 | 0;
const topBit = 0x80000000 | 0;
/** Exponents up to `8 · 2^53`, the longest possible body. */
const powersMax = 57;
const operatorsMax = 64;

/** The hasher has state only between `init` and `digest`, so one instance serves all bodies. */
const hasher = await createCRC64(polynomialHex);

/** A polynomial of degree below 64, reflected: the top bit of `high` is the constant term. */
interface Polynomial {
  readonly high: number;
  readonly low: number;
}

export const crc64OfNothing = 0n;

export function crc64Of(bytes: Uint8Array): bigint {
  const digest = digestOf(bytes);
  return new DataView(digest.buffer, digest.byteOffset, 8).getBigUint64(0);
}

/** The CRC64 of bytes as headers contain it. */
export function crc64BytesOf(bytes: Uint8Array): Uint8Array {
  return digestOf(bytes).toReversed();
}

/** 8 bytes, big-endian. */
function digestOf(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}

/** A CRC64 as headers contain it: 8 bytes, little-endian. */
export function crc64Bytes(crc: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, crc, true);
  return bytes;
}

/** The CRC of two concatenated parts, from the CRC of each, without reading the bytes again. */
export function combineCrc64(first: bigint, second: bigint, secondLength: number): bigint {
  if (secondLength === 0) return first;
  const shifted = multiply(operatorFor(secondLength), {
    high: Number(first >> 32n) | 0,
    low: Number(first & 0xffff_ffffn) | 0,
  });
  return ((BigInt(shifted.high >>> 0) << 32n) | BigInt(shifted.low >>> 0)) ^ second;
}

const powers = powersOfTwo();
const operators = new RecentMap<Polynomial, number>(operatorsMax);

/** `x^(8 · length)`, cached: bodies arrive in chunks of few different lengths. */
function operatorFor(length: number): Polynomial {
  const known = operators.get(length);
  if (known !== undefined) return known;
  let product: Polynomial = { high: topBit, low: 0 };
  let rest = length;
  for (let power = 3; rest > 0; power += 1) {
    if (rest % 2 === 1) product = multiply(powers[power] ?? product, product);
    rest = Math.floor(rest / 2);
  }
  operators.set(length, product);
  return product;
}

/** `x^(2^index)` for each index. */
function powersOfTwo(): readonly Polynomial[] {
  const list: Polynomial[] = [];
  let power: Polynomial = { high: topBit >>> 1, low: 0 };
  for (let index = 0; index < powersMax; index += 1) {
    list.push(power);
    power = multiply(power, power);
  }
  return list;
}

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
