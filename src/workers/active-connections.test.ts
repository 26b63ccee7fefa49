import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ActiveConnections } from "./run-worker.ts";

const sockets = Array.from({ length: 8 }, () => ({}) as IncomingMessage["socket"]);

/** Sends one request per socket. Returns how many of the connections are closed. */
function request(connections: ActiveConnections, from: typeof sockets): number {
  const responses = from.map((socket) => {
    const response = Object.assign(new EventEmitter(), { shouldKeepAlive: true });
    connections.onRequest(
      { socket } as IncomingMessage,
      response as EventEmitter as ServerResponse,
    );
    return response;
  });
  const closed = responses.filter(({ shouldKeepAlive }) => !shouldKeepAlive);
  for (const response of responses) response.emit("close");
  return closed.length;
}

describe("active connections", () => {
  it("are closed after their next response, up to the share", () => {
    const connections = new ActiveConnections();
    expect(request(connections, [...sockets, ...sockets])).toBe(0);
    connections.nextPeriod();
    connections.close(0.5);
    expect(request(connections, sockets)).toBe(4);
    expect(request(connections, sockets.slice(4))).toBe(0);
  });

  it("stay open if there is only one", () => {
    const connections = new ActiveConnections();
    request(connections, sockets.slice(0, 1));
    connections.nextPeriod();
    connections.close(0.5);
    expect(request(connections, sockets.slice(0, 1))).toBe(0);
  });

  it("stay open if a further request was sent before the response", () => {
    const connections = new ActiveConnections();
    request(connections, sockets.slice(0, 2));
    connections.nextPeriod();
    connections.close(0.5);
    expect(request(connections, [sockets[0]!, sockets[0]!])).toBe(0);
    expect(request(connections, [sockets[0]!])).toBe(0);
  });

  it("stay open if they send nothing within a period", () => {
    const connections = new ActiveConnections();
    request(connections, sockets);
    connections.nextPeriod();
    connections.close(0.5);
    connections.nextPeriod();
    expect(request(connections, sockets)).toBe(0);
  });
});
