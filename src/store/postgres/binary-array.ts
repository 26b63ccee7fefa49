/** Arrays in PostgreSQL's binary format: the text format would double every byte. */
const byteaType = 17;
const bigintType = 20;
const headerBytes = 20;
const bigintBytes = 8;

export function byteaArray(items: readonly Uint8Array[]): Buffer {
  let length = headerBytes;
  for (const item of items) length += 4 + item.length;
  const array = withHeader(length, byteaType, items.length);
  let at = headerBytes;
  for (const item of items) {
    array.writeInt32BE(item.length, at);
    array.set(item, at + 4);
    at += 4 + item.length;
  }
  return array;
}

export function bigintArray(items: readonly number[]): Buffer {
  const entryBytes = 4 + bigintBytes;
  const array = withHeader(headerBytes + entryBytes * items.length, bigintType, items.length);
  for (const [index, item] of items.entries()) {
    const at = headerBytes + index * entryBytes;
    array.writeInt32BE(bigintBytes, at);
    array.writeBigInt64BE(BigInt(item), at + 4);
  }
  return array;
}

/** Header: one dimension, no nulls, element type, element count, lower bound 1. */
function withHeader(length: number, type: number, count: number): Buffer {
  const array = Buffer.allocUnsafe(length);
  const words = [1, 0, type, count, 1];
  for (const [index, word] of words.entries()) array.writeInt32BE(word, 4 * index);
  return array;
}
