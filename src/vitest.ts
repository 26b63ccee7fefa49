import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestServer } from "./testkit/test-server.ts";

export type { TestServer };

/** The server of the test worker, with vitest. Each test starts with the same state. */
export function testServer(options: StartOptions = {}): TestServer {
  return registerTestServer({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
