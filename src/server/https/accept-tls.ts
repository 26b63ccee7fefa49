import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createSecureContext, TLSSocket, type SecureContext } from "node:tls";
import type { Clock } from "../../base/world.ts";
import type { ServedCertificate } from "./served-certificate.ts";

/** Serves HTTP and HTTPS on one port, as the admin listener does on a loopback address. */

/** The first byte of every TLS connection: a record of the type "handshake" (RFC 8446, 5.1). No
 *  HTTP method begins with it. */
const handshakeByte = 22;
/** How long a connection may take for its first byte and for the TLS handshake; then it is
 *  closed. */
const decisionMillisecondsMax = 30_000;

/** Makes an HTTP server accept HTTPS on the same port, too. Client libraries require HTTPS of an
 *  authority; a browser does not trust the local certificate, and opens the explorer over HTTP.
 *  Returns a function that closes the connections whose protocol is not known yet, which the HTTP
 *  server does not know. */
export function acceptTls(
  server: Server,
  certificate: ServedCertificate,
  clock: Clock,
): () => void {
  const undecided = new Set<Socket>();
  const serveHttp = server.listeners("connection");
  server.removeAllListeners("connection");
  let context: SecureContext | undefined;
  certificate.use((next) => (context = createSecureContext(next)));
  server.on("connection", (socket: Socket) => {
    undecided.add(socket);
    const end = (): void => void socket.destroy();
    const cancel = clock.after(decisionMillisecondsMax, end);
    const decided = (): void => {
      undecided.delete(socket);
      cancel();
    };
    socket.once("error", end);
    socket.once("close", decided);
    whenReadable(socket, (first) => {
      const serve = (stream: Socket): void => {
        decided();
        for (const listener of serveHttp) listener.call(server, stream);
      };
      if (first !== handshakeByte) return serve(socket);
      const secure = new TLSSocket(socket, { isServer: true, secureContext: context });
      secure.once("error", end);
      secure.once("secure", () => {
        server.emit("secureConnection", secure);
        serve(secure);
      });
    });
  });
  return () => {
    for (const socket of undecided) socket.destroy();
  };
}

/** Calls `act` with the first byte, which stays in the stream. Never calls it if the client closes
 *  the connection before. */
function whenReadable(socket: Socket, act: (first: number) => void): void {
  socket.once("readable", () => {
    const first: Buffer | null = socket.read(1) as Buffer | null;
    if (first === null) return;
    socket.unshift(first);
    act(first[0] ?? 0);
  });
}
