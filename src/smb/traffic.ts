import { connectionTrafficBytesMax, smallTrafficBytesMax } from "./limits.ts";

/** Traffic: the bytes that requests and responses hold in memory (an upper bound for running
 *  requests, and the responses that are not sent yet), of a connection and of all. A request of 120
 *  bytes may ask for 8 MiB, and a client may send 64 of them at once and not read the responses. */

/** The traffic of all connections. While it is at its limit, their further requests wait. */
export class ServerTraffic {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.isFull || this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Calls `wake` once, as soon as the total is below the limit. */
  awaitRoom(wake: () => void): void {
    this.#waiting.add(wake);
  }

  /** Undoes `awaitRoom`, when the connection is closed. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake);
  }
}

/** The traffic of one connection, which its queue asks before it starts a request. */
export class ConnectionTraffic {
  readonly #server: ServerTraffic;
  readonly #wake: () => void;
  #bytes = 0;
  #isBlocked = false;
  #isClosed = false;

  /** `wake` is called when a request that was not allowed to start may be allowed now. */
  constructor(server: ServerTraffic, wake: () => void) {
    this.#server = server;
    this.#wake = wake;
  }

  /** Whether a request may start that takes this many bytes. A connection without traffic may
   *  always start one small request, so that clients that read their responses are not delayed by
   *  those that do not. */
  hasRoomFor(bytes: number): boolean {
    const isAlone = this.#bytes === 0;
    if (isAlone && bytes <= smallTrafficBytesMax) return true;
    this.#isBlocked = !isAlone && this.#bytes + bytes > connectionTrafficBytesMax;
    if (this.#isBlocked) return false;
    if (!this.#server.isFull) return true;
    this.#isBlocked = true;
    this.#server.awaitRoom(this.#wake);
    return false;
  }

  add(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes += bytes;
    this.#server.add(bytes);
  }

  release(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes -= bytes;
    this.#server.release(bytes);
    if (this.#isBlocked) this.#wake();
  }

  /** Releases the bytes of a closed connection, which sends nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#server.forget(this.#wake);
    this.#server.release(this.#bytes);
    this.#bytes = 0;
  }
}
