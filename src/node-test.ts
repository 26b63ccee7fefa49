import { after, afterEach, before, beforeEach } from "node:test";
import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestServer } from "./testkit/test-server.ts";

export type { TestServer };

/** The server of the test worker, with `node --test`. Each test starts with the same state. */
export function testServer(options: StartOptions = {}): TestServer {
  return registerTestServer({ beforeAll: before, beforeEach, afterEach, afterAll: after }, options);
}
