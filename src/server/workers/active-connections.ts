import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The connections of a worker that had a request in the current period. */
export class ActiveConnections {
  #current = new Set<Socket>();
  #previousCount = 0;
  #toClose = 0;
  /** The last response of each connection that is about to be closed. */
  readonly #last = new Map<Socket, ServerResponse>();

  /** Must be called for each request, before its response begins. */
  onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    const last = this.#last.size > 0 ? this.#last.get(socket) : undefined;
    if (last !== undefined) this.#keepOpen(socket, last);
    else if (this.#toClose > 0) {
      this.#toClose -= 1;
      this.#closeAfter(socket, response);
      return;
    }
    this.#current.add(socket);
  }

  /** Begins the next period. */
  nextPeriod(): void {
    this.#previousCount = this.#current.size;
    this.#current = new Set();
    this.#toClose = 0;
  }

  #closeAfter(socket: Socket, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
    response.once("close", () => this.#last.delete(socket));
  }

  /** The client has sent a further request before that response, which would remain unanswered. */
  #keepOpen(socket: Socket, last: ServerResponse): void {
    this.#last.delete(socket);
    if (!last.headersSent) last.shouldKeepAlive = true;
  }

  /** Closes this share of the connections that were active in the previous period, each after its
   *  next response in this period. Connections without a request are not closed: they cause no
   *  load, and a request may be on its way. */
  close(share: number): void {
    this.#toClose = Math.floor(this.#previousCount * share);
  }
}
