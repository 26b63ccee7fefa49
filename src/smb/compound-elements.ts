import { decodeHeader, headerBytes, type Header } from "./wire/header.ts";
import { HeaderFlag } from "./wire/protocol.ts";

/** One message of a chain. */
export interface CompoundElement {
  readonly header: Header;
  readonly message: Buffer;
}

const elementsMax = 256;
const alignment = 8;

/** The messages of a frame; nothing if it is not made of whole messages. */
export function splitCompound(chain: Buffer): readonly CompoundElement[] | undefined {
  const elements: CompoundElement[] = [];
  for (let at = 0; elements.length < elementsMax;) {
    const header = decodeHeader(chain.subarray(at));
    if (header === undefined) return undefined;
    if ((header.flags & HeaderFlag.response) !== 0) return undefined;
    const { nextCommand } = header;
    if (nextCommand === 0) {
      elements.push({ header, message: chain.subarray(at) });
      return elements;
    }
    if (nextCommand % alignment !== 0 || nextCommand < headerBytes) return undefined;
    if (at + nextCommand >= chain.length) return undefined;
    elements.push({ header, message: chain.subarray(at, at + nextCommand) });
    at += nextCommand;
  }
  return undefined;
}
