import { MalformedFrame } from "./byte-reader.ts";
import { frameBytesMax, lengthBytes } from "./byte-writer.ts";

/** Splits the bytes of a connection into the contents of its frames. */
export class FrameSplitter {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes that must be present before the next frame can be read. */
  #needed = lengthBytes;

  /** Returns the contents of the frames that are now complete. */
  add(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return [];
    const contents: Buffer[] = [];
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    for (;;) {
      this.#needed = lengthBytes;
      if (rest.length < lengthBytes) break;
      const end = lengthBytes + rest.readUInt32LE(0);
      if (end > frameBytesMax) throw new MalformedFrame(`more than ${frameBytesMax} bytes`);
      this.#needed = end;
      if (rest.length < end) break;
      contents.push(rest.subarray(lengthBytes, end));
      rest = rest.subarray(end);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return contents;
  }
}
