import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The connections of a worker that had a request in the current period. */
export class ActiveConnections {
  #current = new Set<Socket>();
  #previousCount = 0;
  #toClose = 0;

  /** Must be called for each request, before its response begins. */
  onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#toClose > 0) {
      this.#toClose -= 1;
      response.shouldKeepAlive = false;
    } else this.#current.add(socket);
  }

  /** Begins the next period. */
  nextPeriod(): void {
    this.#previousCount = this.#current.size;
    this.#current = new Set();
    this.#toClose = 0;
  }

  /** Closes this share of the connections that were active in the previous period, each after its
   *  next response in this period. Connections without a request are not closed: they cause no
   *  load, and a request may be on its way. */
  close(share: number): void {
    this.#toClose = Math.floor(this.#previousCount * share);
  }
}
