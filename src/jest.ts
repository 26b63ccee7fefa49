import type { StartOptions } from "./server/options.ts";
import { registerTestServer, type TestHooks, type TestServer } from "./testkit/test-server.ts";

export type { TestServer };

/** The server of the test worker, with Jest. Each test starts with the same state. Test files get
 *  this function from `jest.cts`, which adds the hooks. */
export function testServer(options: StartOptions = {}, hooks?: TestHooks): TestServer {
  if (hooks !== undefined) return registerTestServer(hooks, options);
  throw new Error("etagere/jest works in the test files of Jest only");
}
