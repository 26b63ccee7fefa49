import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestServer } from "./server/test-server.ts";

export type { TestServer };

/** A server for the tests of a file, with vitest. Each test starts with the same state. */
export function testServer(options: StartOptions = {}): TestServer {
  return registerTestServer({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
