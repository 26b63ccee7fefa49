import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A minimal load balancer: each connection goes to the next reachable gateway. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

export async function openBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    client.on("error", () => undefined);
    turn += 1;
    join(
      client,
      ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Another gateway is tried only before bytes were sent; afterwards the client must retry. */
function join(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) return void client.destroy();
  const gateway = connect(port, "127.0.0.1");
  gateway.on("connect", () => {
    client.pipe(gateway).pipe(client);
    client.on("close", () => gateway.destroy());
    gateway.on("close", () => client.destroy());
  });
  gateway.on("error", () => {
    if (gateway.connecting || gateway.bytesRead + gateway.bytesWritten === 0) join(client, others);
    else client.destroy();
  });
}
