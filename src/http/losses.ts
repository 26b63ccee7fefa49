import type { Socket } from "node:net";

const lossesMax = 1000;
const preconditionFailed = 412;

/**
 * How often a connection was told lately that somebody else had been quicker. Whoever has lost most
 * often goes first: of many who change one record in a loop, each then gets through.
 */
export class Losses {
  readonly #counts = new WeakMap<Socket, number>();

  of(socket: Socket): number {
    return this.#counts.get(socket) ?? 0;
  }

  note(socket: Socket, method: string | undefined, status: number): void {
    if (status === preconditionFailed) {
      this.#counts.set(socket, Math.min(this.of(socket) + 1, lossesMax));
    } else if (method !== "GET" && method !== "HEAD") {
      this.#counts.delete(socket);
    }
  }
}
