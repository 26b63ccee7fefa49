import type { EntityKeys } from "../../protocol/principal.ts";
import { decodeKeyText } from "../key-text.ts";
import { entities } from "../records.ts";

/**
 * Decodes partition and row key of encoded keys of one table; a page has up to 1,000. After the
 * table's prefix an encoded key is `02 partition 00 02 row 00`. Keys cannot contain characters
 * below U+0020, so no byte is escaped. Keeps the last partition key: rows of a partition are
 * consecutive.
 */
export class KeyReader {
  readonly #from: number;
  #partition: Uint8Array = new Uint8Array();
  #partitionKey = "";

  constructor(table: bigint) {
    this.#from = entities.prefix([table]).length + 1;
  }

  read(key: Uint8Array): EntityKeys {
    const end = key.indexOf(0, this.#from);
    if (!this.#isSamePartition(key, end)) {
      this.#partition = key.slice(this.#from, end);
      this.#partitionKey = textOf(this.#partition, 0, this.#partition.length);
    }
    return { partitionKey: this.#partitionKey, rowKey: textOf(key, end + 2, key.length - 1) };
  }

  #isSamePartition(key: Uint8Array, end: number): boolean {
    const { length } = this.#partition;
    if (end - this.#from !== length) return false;
    for (let index = 0; index < length; index += 1) {
      if (key[this.#from + index] !== this.#partition[index]) return false;
    }
    return true;
  }
}

/** Up to this length of ASCII a loop is faster than a call of the decoder. */
const loopBytesMax = 64;

function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > loopBytesMax) return decodeKeyText(bytes.subarray(from, to));
  let text = "";
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) return decodeKeyText(bytes.subarray(from, to));
    text += String.fromCharCode(byte);
  }
  return text;
}
