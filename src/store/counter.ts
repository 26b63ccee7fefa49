import type { Value } from "./store.ts";

export const counterBytes = 8;

/** Decodes the value of a counter: 8 bytes, signed, little-endian; an absent key counts as 0. */
export function decodeCounter(value: Value | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== counterBytes) {
    throw new RangeError(`counter must have ${counterBytes} bytes, got ${value.length}`);
  }
  return new DataView(value.buffer, value.byteOffset, counterBytes).getBigInt64(0, true);
}

export function encodeCounter(count: bigint): Value {
  const value = new Uint8Array(counterBytes);
  new DataView(value.buffer).setBigInt64(0, count, true);
  return value;
}
