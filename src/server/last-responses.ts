import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The response after which each connection is closed. A connection is only closed by a response
 *  with `Connection: close`: then its client knows that a further request needs a new one. */
export class LastResponses {
  readonly #last = new Map<Socket, ServerResponse>();

  /** Closes the connection after this response, whose head is not sent yet. */
  closeAfter(socket: Socket, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
    response.once("close", () => {
      if (this.#last.get(socket) === response) this.#last.delete(socket);
    });
  }

  /** Must be called for each request before `closeAfter`. Returns whether the client has sent it
   *  before the last response, which then keeps the connection open: otherwise this request would
   *  remain unanswered. */
  keepOpen(socket: Socket): boolean {
    const last = this.#last.size > 0 ? this.#last.get(socket) : undefined;
    if (last === undefined) return false;
    this.#last.delete(socket);
    if (!last.headersSent) last.shouldKeepAlive = true;
    return true;
  }
}
