import { once } from "../../process/memo.ts";
import { edm, type EdmType, type EdmValue } from "../edm/edm.ts";
import { headBytes, isPlain, isWide, typeBits } from "./entity-format.ts";

const valueView = new DataView(new ArrayBuffer(8));
const asciiEnd = 0x80;
/** Up to this length of ASCII a loop is faster than a call of the decoder. */
const loopBytesMax = 24;

/** Iterates over the properties of an encoded entity (`entity-format.ts`) without allocation.
 *  Reused for all rows. */
export class PropertyCursor {
  bytes: Uint8Array = new Uint8Array();
  type: EdmType = edm.string;
  // Positions in `bytes` of the name and value of the current property.
  nameFrom = 0;
  nameTo = 0;
  valueFrom = 0;
  valueTo = 0;
  #flags = 0;

  /** Positions the cursor before the first property; `next` must follow. */
  start(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.valueTo = headBytes;
  }

  /** Moves to the next property; false at the end. */
  next(): boolean {
    const { bytes, valueTo: at } = this;
    if (at >= bytes.length) return false;
    const head = bytes[at]!;
    this.#flags = head;
    this.type = (head & typeBits) as EdmType;
    this.nameFrom = at + 3;
    this.nameTo = at + 3 + (bytes[at + 1]! | (bytes[at + 2]! << 8));
    this.#measure(this.nameTo);
    return true;
  }

  #measure(at: number): void {
    switch (this.type) {
      case edm.string:
      case edm.guid:
      case edm.binary:
        this.valueFrom = at + 4;
        this.valueTo = at + 4 + readInt32(this.bytes, at);
        return;
      case edm.boolean:
        this.valueFrom = at;
        this.valueTo = at + 1;
        return;
      case edm.int32:
        this.valueFrom = at;
        this.valueTo = at + 4;
        return;
      default:
        this.valueFrom = at;
        this.valueTo = at + 8;
    }
  }

  /** Whether the value is a text that needs no escaping in JSON. */
  get isPlainText(): boolean {
    return (this.#flags & isPlain) !== 0;
  }

  isNamed(name: Uint8Array): boolean {
    const { bytes, nameFrom } = this;
    const { length } = name;
    if (this.nameTo - nameFrom !== length) return false;
    for (let index = 0; index < length; index += 1) {
      if (bytes[nameFrom + index] !== name[index]) return false;
    }
    return true;
  }

  get name(): string {
    return decodeText(this.bytes, this.nameFrom, this.nameTo);
  }

  get value(): EdmValue {
    const { bytes, valueFrom } = this;
    switch (this.type) {
      case edm.string:
      case edm.guid:
        return this.#text();
      case edm.binary:
        return bytes.subarray(valueFrom, this.valueTo);
      case edm.boolean:
        return bytes[valueFrom] === 1;
      case edm.int32:
        return readInt32(bytes, valueFrom);
      case edm.double:
        return copyValue(bytes, valueFrom).getFloat64(0, true);
      default:
        return readInt64(bytes, valueFrom);
    }
  }

  #text(): string {
    if ((this.#flags & isWide) === 0) return decodeText(this.bytes, this.valueFrom, this.valueTo);
    return bufferOf(this.bytes).toString("utf16le", this.valueFrom, this.valueTo);
  }
}

export function readInt64(bytes: Uint8Array, at: number): bigint {
  return copyValue(bytes, at).getBigInt64(0, true);
}

function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Copies 8 bytes to a shared view: cheaper than creating a `DataView` per value. */
function copyValue(bytes: Uint8Array, at: number): DataView {
  for (let index = 0; index < 8; index += 1) valueView.setUint8(index, bytes[at + index]!);
  return valueView;
}

function decodeText(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > loopBytesMax) return bufferOf(bytes).toString("utf8", from, to);
  let text = "";
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at]!;
    if (byte >= asciiEnd) return bufferOf(bytes).toString("utf8", from, to);
    text += String.fromCharCode(byte);
  }
  return text;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** For code that ends with one entity before it begins with the next one. Saves 5 % of a query. */
export const reusedCursor = once(() => new PropertyCursor());
