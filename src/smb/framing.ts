import type { Writable } from "node:stream";
import type { MemoryBudget } from "../base/memory-budget.ts";

/** Frames of SMB over TCP: a zero byte, a 3-byte length, then the message ([MS-SMB2] 2.1).
 *  `smb/connection.ts` reads and writes them. */

const prefixBytes = 4;
const messageKind = 0x00;
const keepAliveKind = 0x85;

/** The memory of an incomplete frame is counted in steps as its bytes arrive, not by the length
 *  that the client announces: clients that announce frames and send nothing must not use up the
 *  budget. */
const reservedStepBytes = 64 * 1024;

/** Receives each complete frame. */
type OnFrame = (frame: Buffer) => void;

/** Splits the TCP stream of one client into frames. A frame inside one chunk is not copied. */
export class Framer {
  readonly #onFrame: OnFrame;
  readonly #frameBytesMax: () => number;
  #prefix = Buffer.alloc(0);
  #frame: Buffer | undefined;
  #filled = 0;
  /** Bytes of the incomplete frame that are counted in the memory budget of the process. */
  #reserved = 0;
  #isClosed = false;
  readonly #memory: MemoryBudget | undefined;

  constructor(frameBytesMax: () => number, onFrame: OnFrame, memory?: MemoryBudget) {
    this.#frameBytesMax = frameBytesMax;
    this.#onFrame = onFrame;
    this.#memory = memory;
  }

  /** Whether the last frame has begun and is not complete. */
  get isIncomplete(): boolean {
    return this.#frame !== undefined || this.#prefix.length > 0;
  }

  /** Bytes that the incomplete frame lacks; `push` will copy them into it. */
  get missingBytes(): number {
    return this.#frame === undefined ? 0 : this.#frame.length - this.#filled;
  }

  /** Discards an incomplete frame and all further bytes, at the end of the connection. May be
   *  called by `onFrame`: bytes after a frame that ends the connection must not take memory. */
  close(): void {
    this.#isClosed = true;
    this.#forgetFrame();
  }

  #forgetFrame(): void {
    this.#memory?.release(this.#reserved);
    this.#reserved = 0;
    this.#frame = undefined;
  }

  /** Adds bytes of the stream. False if the connection must be closed: a frame is of unknown kind
   *  or too long, or there is no memory for it. */
  push(chunk: Buffer): boolean {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#isClosed) return false;
      if (this.#frame !== undefined) {
        const left = this.#fill(this.#frame, rest);
        if (left === undefined) return false;
        rest = left;
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
    // The whole frame is allocated at once: the operating system provides pages when they are first
    // written.
    this.#frame = Buffer.allocUnsafe(length);
    this.#filled = 0;
    return this.#fill(this.#frame, body);
  }

  /** Adds bytes to the frame. Returns those after it; undefined if the memory budget is
   *  exhausted. */
  #fill(frame: Buffer, chunk: Buffer): Buffer | undefined {
    const filled = Math.min(frame.length, this.#filled + chunk.length);
    if (!this.#reserve(frame, filled)) return undefined;
    const count = chunk.copy(frame, this.#filled);
    this.#filled = filled;
    if (filled === frame.length) {
      this.#forgetFrame();
      this.#onFrame(frame);
    }
    return chunk.subarray(count);
  }

  /** Counts the memory of `filled` bytes of a frame; false if the budget is exhausted. */
  #reserve(frame: Buffer, filled: number): boolean {
    if (filled <= this.#reserved) return true;
    const steps = Math.ceil(filled / reservedStepBytes);
    const wanted = Math.min(frame.length, steps * reservedStepBytes);
    if (this.#memory?.tryReserve(wanted - this.#reserved) === false) return false;
    this.#reserved = wanted;
    return true;
  }
}

const nothing = Buffer.alloc(0);

/** Frames up to this length are copied into one buffer, which costs less than several writes. */
const copiedBytesMax = 8192;

/** Sends one frame, given in parts. `whenSent` is called when it, or the first of several writes,
 *  was given to the operating system. */
export function writeFrame(socket: Writable, parts: readonly Buffer[], whenSent: () => void): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length <= copiedBytesMax) {
    socket.write(Buffer.concat([framePrefix(length), ...parts]), whenSent);
    return;
  }
  socket.cork();
  socket.write(framePrefix(length), whenSent);
  for (const part of parts) socket.write(part);
  socket.uncork();
}

/** The prefix of a frame whose message has this length. */
export function framePrefix(length: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUIntBE(length, 1, 3);
  return prefix;
}
