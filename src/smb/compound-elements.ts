import { decodeHeader, headerBytes, type Header } from "./wire/header.ts";
import { HeaderFlag } from "./wire/protocol.ts";

/** One request of a compound ([MS-SMB2] 3.3.5.2.7), or the only request of a frame. */
export interface CompoundElement {
  readonly header: Header;
  readonly message: Buffer;
}

/** Requests in one frame; a frame with more is malformed. */
const elementsMax = 256;
const alignment = 8;

/** Splits a frame at its NextCommand offsets; undefined if an element is malformed. */
export function splitCompound(frame: Buffer): readonly CompoundElement[] | undefined {
  const elements: CompoundElement[] = [];
  for (let at = 0; elements.length < elementsMax;) {
    const header = decodeHeader(frame.subarray(at));
    if (header === undefined) return undefined;
    if ((header.flags & HeaderFlag.response) !== 0) return undefined;
    const { nextCommand } = header;
    if (nextCommand === 0) {
      elements.push({ header, message: frame.subarray(at) });
      return elements;
    }
    if (nextCommand % alignment !== 0 || nextCommand < headerBytes) return undefined;
    if (at + nextCommand >= frame.length) return undefined;
    elements.push({ header, message: frame.subarray(at, at + nextCommand) });
    at += nextCommand;
  }
  return undefined;
}
