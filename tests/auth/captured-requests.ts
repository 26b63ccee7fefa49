import { createServer, type Server } from "node:http";
import type { ServiceName } from "../../src/protocol/names.ts";
import { requestOf, type WireRequest } from "./request-of.ts";
import type { AuthRequest } from "../../src/http/auth/request.ts";

/** A listener that rejects every request and records what the client library sent. */
export class CapturedRequests {
  readonly #server: Server;
  readonly #wires: WireRequest[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      this.#wires.push({
        method: request.method ?? "",
        url: request.url ?? "",
        rawHeaders: request.rawHeaders,
        pathStyle: true,
      });
      request.resume();
      response.writeHead(400).end();
    });
  }

  static async listen(): Promise<CapturedRequests> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new CapturedRequests(server);
  }

  /** Path-style URLs, which local clients use. */
  urlOf(account: string): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}/${account}`;
  }

  /** Runs one call of a client library, whose failure is expected, and returns its request. */
  async wireOf(call: () => Promise<unknown>): Promise<WireRequest> {
    const before = this.#wires.length;
    await call().catch(() => undefined);
    const wire = this.#wires[before];
    if (wire === undefined) throw new Error("the client library sent nothing");
    return wire;
  }

  async requestOf(service: ServiceName, call: () => Promise<unknown>): Promise<AuthRequest> {
    return requestOf({ ...(await this.wireOf(call)), service });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
