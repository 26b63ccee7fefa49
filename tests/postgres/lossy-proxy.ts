import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy between a node and its database that can drop the response to a commit. */
export interface LossyProxy {
  readonly port: number;
  /** Forwards the next commit, drops its response and closes the connection. */
  loseNextAnswer(): void;
  readonly answersLost: () => number;
  close(): Promise<void>;
}

/** The names of portal and statement in the messages that execute a commit. */
const commitMark = Buffer.from("\0commit\0");

export async function openLossyProxy(databasePort: number): Promise<LossyProxy> {
  let [isArmed, lost] = [false, 0];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(databasePort, "127.0.0.1");
    let losesAnswer = false;
    for (const each of [client, database]) {
      sockets.add(each);
      each.on("error", () => undefined);
      each.on("close", () => sockets.delete(each));
    }
    client.on("data", (bytes) => {
      if (isArmed && bytes.includes(commitMark)) [isArmed, losesAnswer] = [false, true];
      database.write(bytes);
    });
    database.on("data", (bytes) => {
      if (!losesAnswer) {
        client.write(bytes);
        return;
      }
      lost += 1;
      client.destroy();
      database.destroy();
    });
    client.on("close", () => database.destroy());
    database.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    loseNextAnswer: () => void (isArmed = true),
    answersLost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
