import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** Another program on this machine that must not be reached by copies. */
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
    // At every address of the machine, so that no notation misses it by chance.
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
