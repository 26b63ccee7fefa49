import type { MemoryBudget } from "../base/memory-budget.ts";

/** Direct TCP transport: a zero byte, a 3-byte length, then the message ([MS-SMB2] 2.1). */

const prefixBytes = 4;
const messageKind = 0x00;
const keepAliveKind = 0x85;

export type OnFrame = (frame: Buffer) => void;

/** Splits a TCP stream into frames. A frame inside one chunk is not copied. */
export class Framer {
  readonly #onFrame: OnFrame;
  readonly #frameBytesMax: () => number;
  #prefix = Buffer.alloc(0);
  #frame: Buffer | undefined;
  #filled = 0;
  readonly #memory: MemoryBudget | undefined;

  constructor(frameBytesMax: () => number, onFrame: OnFrame, memory?: MemoryBudget) {
    this.#frameBytesMax = frameBytesMax;
    this.#onFrame = onFrame;
    this.#memory = memory;
  }

  /** Discards an incomplete frame. */
  close(): void {
    if (this.#frame !== undefined) this.#memory?.release(this.#frame.length);
    this.#frame = undefined;
  }

  /** Adds bytes of the stream. False if the connection must be closed: a frame of unknown kind, one
   *  that is too long, or no memory for it. */
  push(chunk: Buffer): boolean {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#frame !== undefined) {
        rest = this.#fill(this.#frame, rest);
        continue;
      }
      const begun = this.#prefix.length === 0 ? rest : Buffer.concat([this.#prefix, rest]);
      if (begun.length < prefixBytes) {
        this.#prefix = Buffer.from(begun);
        return true;
      }
      this.#prefix = nothing;
      const length = begun.readUIntBE(1, 3);
      const kind = begun[0];
      if (kind !== messageKind && kind !== keepAliveKind) return false;
      if (length > this.#frameBytesMax()) return false;
      const after = this.#begin(begun.subarray(prefixBytes), length);
      if (after === undefined) return false;
      rest = after;
    }
    return true;
  }

  /** Starts a frame. Returns the bytes after it; undefined if the memory budget is exhausted. */
  #begin(body: Buffer, length: number): Buffer | undefined {
    if (length === 0) return body;
    if (body.length >= length) {
      this.#onFrame(body.subarray(0, length));
      return body.subarray(length);
    }
    if (this.#memory?.tryReserve(length) === false) return undefined;
    this.#frame = Buffer.allocUnsafe(length);
    this.#filled = 0;
    return this.#fill(this.#frame, body);
  }

  #fill(frame: Buffer, chunk: Buffer): Buffer {
    const count = chunk.copy(frame, this.#filled);
    this.#filled += count;
    if (this.#filled === frame.length) {
      this.#memory?.release(frame.length);
      this.#frame = undefined;
      this.#onFrame(frame);
    }
    return chunk.subarray(count);
  }
}

const nothing = Buffer.alloc(0);

/** The 4 bytes before a message of this length. */
export function framePrefix(length: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUIntBE(length, 1, 3);
  return prefix;
}
