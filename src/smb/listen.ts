import { createServer, type Server } from "node:net";
import { administrationOf, type SmbAdministration } from "./administration.ts";
import { Connection } from "./connection.ts";
import { SmbServerState, type SmbEnvironment } from "./server.ts";

interface SmbListener {
  readonly server: Server;
  readonly administration: SmbAdministration;
  /** Closes all connections and all handles, durable ones included. */
  stop(): Promise<void>;
}

/** TCP connections of the whole server; further ones are closed at once. */
const connectionsMax = 1024;

/** Creates the SMB server; the caller binds `server` to an address. */
export function smbListener(world: SmbEnvironment): SmbListener {
  const state = new SmbServerState(world);
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    const connection = new Connection(state, socket);
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
  });
  server.maxConnections = connectionsMax;
  return {
    server,
    administration: administrationOf(state),
    async stop() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const connection of connections) connection.end();
      state.handleCloser.stop();
      await closed;
      await state.backgroundWork.awaitAll();
      await state.durableHandles.closeAll();
    },
  };
}
