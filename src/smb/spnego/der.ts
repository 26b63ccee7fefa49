/** The subset of DER that SPNEGO tokens use. */

export const Tag = {
  octets: 0x04,
  objectId: 0x06,
  enumerated: 0x0a,
  text: 0x1b,
  sequence: 0x30,
  application: 0x60,
} as const;

/** The tag of a constructed context-specific field `[n]`. */
export function field(index: number): number {
  return 0xa0 + index;
}

export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content as sent. */
  readonly encoded: Buffer;
}

const longForm = 0x80;
const lengthBytesMax = 3;
const elementsMax = 64;

/** Decodes a sequence of elements; undefined if malformed or more than `elementsMax`. */
export function decodeElements(bytes: Buffer): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = decodeElement(bytes, at);
    if (element === undefined || elements.length >= elementsMax) return undefined;
    elements.push(element);
    at += element.encoded.length;
  }
  return elements;
}

function decodeElement(bytes: Buffer, at: number): DerElement | undefined {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) return undefined;
  let length = first;
  let start = at + 2;
  if ((first & longForm) !== 0) {
    const count = first & ~longForm;
    if (count === 0 || count > lengthBytesMax || start + count > bytes.length) return undefined;
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) return undefined;
  return { tag, content: bytes.subarray(start, end), encoded: bytes.subarray(at, end) };
}

export function encodeElement(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): readonly number[] {
  if (length < longForm) return [length];
  if (length <= 0xff) return [longForm | 1, length];
  return [longForm | 2, length >> 8, length & 0xff];
}
