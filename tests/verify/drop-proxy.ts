import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";

/**
 * A stable address in front of a server that comes and goes. While the server is down, nothing
 * listens, so that clients know that their request was never sent. It can cut connections, with
 * requests and answers still in them.
 */
export class DropProxy {
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(target: string): Promise<void> {
    const { hostname, port } = new URL(target);
    const server = createServer((client) => this.#join(client, connect(Number(port), hostname)));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    const address = server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
  }

  /** Every connection ends, and no new one begins. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.drop(() => true);
  }

  /** Cuts the chosen connections; returns how many. */
  drop(isChosen: () => boolean): number {
    const chosen = [...this.#pairs].filter(() => isChosen());
    for (const pair of chosen) for (const socket of pair) socket.destroy();
    return chosen.length;
  }

  #join(client: Socket, server: Socket): void {
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.pipe(server);
    server.pipe(client);
  }
}
