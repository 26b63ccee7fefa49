import { after, afterEach, before, beforeEach } from "node:test";
import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestServer } from "./server/test-server.ts";

export type { TestServer };

/** A server for the tests of a file, with `node --test`. Each test starts with the same state. */
export function testServer(options: StartOptions = {}): TestServer {
  return registerTestServer({ beforeAll: before, beforeEach, afterEach, afterAll: after }, options);
}
