import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { once } from "node:events";
import type { ServiceName } from "./wire.ts";

export interface Passing {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Passed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A simulated server bug: it may change a request, respond itself, or change the response. */
export type Lie = (
  passing: Passing,
  forward: (changed: Passing) => Promise<Passed>,
) => Promise<Passed>;

/** A proxy that makes a correct server behave incorrectly. */
export class LyingProxy {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(service: ServiceName, target: string, lie: Lie): Promise<LyingProxy> {
    const server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const passing: Passing = {
          service,
          method: incoming.method ?? "GET",
          path: incoming.url ?? "/",
          headers: incoming.headers,
          body: Buffer.concat(chunks),
        };
        const passed = lie(passing, (changed) => forward(target, changed));
        void passed.then((answer) => pass(answer, outgoing)).catch(() => outgoing.destroy());
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new LyingProxy(server);
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function pass({ status, headers, body }: Passed, outgoing: ServerResponse): void {
  const { "transfer-encoding": _chunked, ...kept } = headers;
  outgoing.writeHead(status, { ...kept, "content-length": body.length }).end(body);
}

function forward(target: string, { method, path, headers, body }: Passing): Promise<Passed> {
  const { hostname, port } = new URL(target);
  const all = { ...headers, "content-length": body.length };
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname, port, method, path, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
