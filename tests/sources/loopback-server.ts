import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** A server on this machine that copies must not reach. */
export interface LoopbackServer {
  readonly port: number;
  /** The requests that arrived since the test began. */
  readonly requests: IncomingMessage[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export function loopbackServer(answer: Answer): LoopbackServer {
  const held = { port: 0, requests: [] as IncomingMessage[] };
  const server = createServer((request, response) => {
    held.requests.push(request);
    answer(request, response);
  });
  beforeAll(async () => {
    // Listens on every address of the machine, so that every notation reaches it.
    await new Promise<void>((listening) => server.listen(0, "::", listening));
    held.port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => void held.requests.splice(0));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return held;
}
