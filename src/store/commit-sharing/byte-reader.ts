import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";

/** A frame that no process of this release sends; its connection is closed. */
export class MalformedFrame extends Error {
  override readonly name = "MalformedFrame";
}

/** Reads the content of a frame (`byte-writer.ts`). Bytes are returned without a copy. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  uint16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  number(): number {
    const value = this.#bytes.readDoubleLE(this.#take(8));
    if (!Number.isSafeInteger(value) || value < 0) throw new MalformedFrame("number out of range");
    return value;
  }

  int64(): bigint {
    return this.#bytes.readBigInt64LE(this.#take(8));
  }

  text(): KeyText {
    const length = this.uint16();
    const at = this.#take(length);
    return textOfKey(this.#bytes, at, at + length);
  }

  /** Reads a text as bytes. */
  key(): Uint8Array {
    const length = this.uint16();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  bytes(): Uint8Array {
    const length = this.uint32();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Reads a list whose count precedes it. Each item takes at least one byte, which bounds the
   *  count. */
  list<T>(read: (index: number) => T): T[] {
    const count = this.uint32();
    if (count > this.#bytes.length - this.#at) throw new MalformedFrame("list ends too early");
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(read(index));
    return items;
  }

  /** Throws if bytes are left. */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new MalformedFrame("bytes after the content");
  }

  #take(count: number): number {
    const at = this.#at;
    if (count > this.#bytes.length - at) throw new MalformedFrame("content ends too early");
    this.#at = at + count;
    return at;
  }
}
