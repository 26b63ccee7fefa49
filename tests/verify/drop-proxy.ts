import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { freePort } from "../harness/free-port.ts";

/**
 * A stable address for a server that is restarted. While the server is down nothing listens, so
 * that clients know that a request was not sent. It can close connections with requests and
 * responses in flight.
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
    if (this.#port === 0) this.#port = await freePort();
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
  }

  /** Closes every connection and accepts no new one. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.drop(() => true);
  }

  /** Closes the chosen connections; returns their number. */
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
