import type { Progress } from "../progress.ts";
import { firstLine, frameHeaderBytes } from "./archive-format.ts";

/** Where the header of a frame has the length of its stored bytes, and the length before
 *  compression. */
const storedLengthOffset = 8;
const plainLengthOffset = 12;

/** Adds the bytes of an archive that passes, in chunks of any size, to the progress: as long as
 *  they are before compression, because the total of an export is known only in these. */
export function frameProgress(progress: Progress): (chunk: Uint8Array) => void {
  const header = Buffer.alloc(frameHeaderBytes);
  let headerBytes = 0;
  /** Bytes of the current frame that are still to come before the next header. */
  let left = firstLine.length;
  let plainPerStored = 0;
  return (chunk) => {
    let plain = 0;
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const count = Math.min(left, chunk.length - at);
        plain += count * plainPerStored;
        left -= count;
        at += count;
        continue;
      }
      const part = chunk.subarray(at, at + frameHeaderBytes - headerBytes);
      header.set(part, headerBytes);
      headerBytes += part.length;
      at += part.length;
      if (headerBytes < frameHeaderBytes) break;
      headerBytes = 0;
      left = header.readUInt32BE(storedLengthOffset);
      plainPerStored = left === 0 ? 0 : header.readUInt32BE(plainLengthOffset) / left;
    }
    progress.add({ bytes: plain });
  };
}
