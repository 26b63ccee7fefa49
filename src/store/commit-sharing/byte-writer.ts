import type { KeyText } from "../key-text.ts";

/** Limit of this server for a frame, with its length field. It bounds the memory that a connection
 *  needs for one frame. */
export const frameBytesMax = 8 * 2 ** 20;
/** Every frame starts with the number of the bytes that follow: 4 bytes, little-endian. */
export const lengthBytes = 4;
const initialBytes = 4096;

/** The content does not fit into a frame. */
export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
}

/** Builds a frame. Integers are little-endian; sequences and revisions are doubles, which hold them
 *  exactly. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(initialBytes);
  #length = lengthBytes;

  uint8(value: number): void {
    const at = this.#reserve(1);
    this.#length = this.#bytes.writeUInt8(value, at);
  }

  uint16(value: number): void {
    const at = this.#reserve(2);
    this.#length = this.#bytes.writeUInt16LE(value, at);
  }

  uint32(value: number): void {
    const at = this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, at);
  }

  number(value: number): void {
    const at = this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, at);
  }

  int64(value: bigint): void {
    const at = this.#reserve(8);
    this.#length = this.#bytes.writeBigInt64LE(BigInt.asIntN(64, value), at);
  }

  text(text: KeyText): void {
    this.uint16(text.length);
    const at = this.#reserve(text.length);
    this.#length = at + this.#bytes.write(text, at, "latin1");
  }

  bytes(bytes: Uint8Array): void {
    this.uint32(bytes.length);
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
    this.#length = at + bytes.length;
  }

  /** The frame; the writer must not be used afterwards. */
  frame(): Buffer {
    this.#bytes.writeUInt32LE(this.#length - lengthBytes, 0);
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room for `count` more bytes and returns their position. */
  #reserve(count: number): number {
    const needed = this.#length + count;
    if (needed > this.#bytes.length) {
      if (needed > frameBytesMax) throw new FrameTooLarge(`more than ${frameBytesMax} bytes`);
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, needed));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    return this.#length;
  }
}
