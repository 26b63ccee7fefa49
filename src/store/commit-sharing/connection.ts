import type { Socket } from "node:net";

import { FrameSplitter } from "./frame-splitter.ts";

export interface ConnectionOptions {
  /** Called for each frame with its content. If it throws, the connection is closed. */
  readonly onFrame: (content: Buffer) => void;
  /** Called once. The reason is `undefined` if the other side has closed the connection. */
  readonly onClose: (reason: unknown) => void;
}

/** Limit of this server for bytes that wait to be sent. Beyond it, the process at the other end is
 *  assumed to be stopped: the connection is closed, and that process continues alone. */
const unsentBytesMax = 16 * 2 ** 20;

/** One end of a connection between a leader and a follower. */
export class Connection {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket, { onFrame, onClose }: ConnectionOptions) {
    this.#socket = socket;
    const splitter = new FrameSplitter();
    let reason: unknown;
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const content of splitter.add(chunk)) onFrame(content);
      } catch (error) {
        reason = error;
        socket.destroy();
      }
    });
    socket.on("error", (error) => {
      reason ??= error;
    });
    // A connection is useless without either direction, so a half-open one is closed.
    socket.on("end", () => socket.destroy());
    socket.on("close", () => onClose(reason));
  }

  /** Sends the frames of one event-loop iteration with one system call. */
  send(frame: Buffer): void {
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength > unsentBytesMax) {
      this.#socket.destroy();
      return;
    }
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(frame);
  }

  /** Closes the connection after what was sent so far. Does not keep the process running: the other
   *  side may have stopped reading. */
  end(): void {
    this.#socket.destroySoon();
    this.#socket.unref();
  }

  /** Closes the connection at once; frames that are not sent yet are lost. */
  destroy(): void {
    this.#socket.destroy();
  }
}
