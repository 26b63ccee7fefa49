import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestHooks, type TestServer } from "./server/test-server.ts";

export type { TestServer };

/** A server for the tests of a file, with Jest. Each test starts with the same state. */
export function testServer(options: StartOptions = {}): TestServer {
  // Jest defines its hooks as global functions.
  const hooks = globalThis as unknown as Partial<TestHooks>;
  const { beforeAll, beforeEach, afterEach, afterAll } = hooks;
  if (!beforeAll || !beforeEach || !afterEach || !afterAll) {
    throw new Error("etagere/jest needs the global hooks of Jest: set injectGlobals to true");
  }
  return registerTestServer({ beforeAll, beforeEach, afterEach, afterAll }, options);
}
