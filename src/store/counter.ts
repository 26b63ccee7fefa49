import type { Value } from "./store.ts";

export const counterBytes = 8;

/** The number that `add` keeps at a key: eight bytes, signed, little-endian; absent is zero. */
export function decodeCounter(value: Value | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== counterBytes) {
    throw new RangeError(`a counter has ${counterBytes} bytes, not ${value.length}`);
  }
  return new DataView(value.buffer, value.byteOffset, counterBytes).getBigInt64(0, true);
}

export function encodeCounter(count: bigint): Value {
  const value = new Uint8Array(counterBytes);
  new DataView(value.buffer).setBigInt64(0, count, true);
  return value;
}
