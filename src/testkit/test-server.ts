import type { StartOptions } from "../server/options.ts";
import type { Snapshot } from "../controls/server-snapshots.ts";
import type { EtagereServer } from "../server/start.ts";
import {
  acquireServer,
  deleteSnapshotsFrom,
  releaseServer,
  type AcquiredServer,
} from "./worker-servers.ts";

/** Registers a server with the hooks of a test runner, for tests of programs that use storage. */

/** The hooks of a test runner: Vitest, Jest or that of Node.js. The package entries
 *  `etagere/vitest`, `etagere/jest` and `etagere/node-test` register a server with them. */
export interface TestHooks {
  readonly beforeAll: (run: () => Promise<void>) => unknown;
  readonly beforeEach: (run: () => Promise<void>) => unknown;
  readonly afterEach: (run: () => Promise<void>) => unknown;
  readonly afterAll: (run: () => Promise<void>) => unknown;
}

/** What tests may use of a server: the test runner starts and stops it. */
export type TestServer = Omit<EtagereServer, "stop" | typeof Symbol.asyncDispose>;

/** Provides a server for the tests of a file: the one of this test worker, or a new one. What a
 *  test changes is undone after it, and its faults end; what `beforeAll` creates stays until the
 *  end of the file. By default everything is in memory, on free ports. */
export function registerTestServer(hooks: TestHooks, options: StartOptions): TestServer {
  let acquired: AcquiredServer | undefined;
  const saved: Snapshot[] = [];
  const running = (): AcquiredServer => {
    if (acquired !== undefined) return acquired;
    throw new Error("the server is not running: use it in tests and hooks, not at the top level");
  };
  hooks.beforeAll(async () => {
    acquired = await acquireServer(options);
  });
  hooks.beforeEach(async () => {
    saved.push(await running().api.snapshot());
  });
  hooks.afterEach(async () => {
    const { api, server } = running();
    api.faults.clear();
    const snapshot = saved.pop();
    if (snapshot === undefined) return;
    await api.restore(snapshot);
    await deleteSnapshotsFrom(server, snapshot);
  });
  hooks.afterAll(async () => {
    const last = acquired;
    acquired = undefined;
    if (last !== undefined) await releaseServer(last);
  });
  const get = (_: object, name: string | symbol): unknown => Reflect.get(running().api, name);
  return new Proxy({}, { get }) as TestServer;
}
