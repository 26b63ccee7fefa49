import type { StartOptions } from "./options.ts";
import type { Snapshot } from "./snapshots/server-snapshots.ts";
import type { EtagereServer } from "./start.ts";

/** The hooks of a test runner. */
export interface TestHooks {
  readonly beforeAll: (run: () => Promise<void>) => unknown;
  readonly beforeEach: (run: () => Promise<void>) => unknown;
  readonly afterEach: (run: () => Promise<void>) => unknown;
  readonly afterAll: (run: () => Promise<void>) => unknown;
}

/** What tests use of a server that the test runner starts and stops. */
export type TestServer = Omit<EtagereServer, "stop" | typeof Symbol.asyncDispose>;

/** Starts a server before the tests of a file and stops it after them. What a test changes is
 *  undone after it, and its faults end; what `beforeAll` creates stays. By default everything is in
 *  memory, on free ports. */
export function registerTestServer(hooks: TestHooks, options: StartOptions): TestServer {
  let server: EtagereServer | undefined;
  const saved: Snapshot[] = [];
  const running = (): EtagereServer => {
    if (server !== undefined) return server;
    throw new Error("the server is not running: use it in tests and hooks, not at the top level");
  };
  hooks.beforeAll(async () => {
    const { start } = await import("./start.ts");
    server = await start({ ...defaultsFor(options), ...options });
  });
  hooks.beforeEach(async () => {
    saved.push(await running().snapshot());
  });
  hooks.afterEach(async () => {
    running().faults.clear();
    const snapshot = saved.pop();
    if (snapshot === undefined) return;
    await running().restore(snapshot);
    await snapshot.delete();
  });
  hooks.afterAll(async () => {
    await server?.stop();
    server = undefined;
  });
  const get = (_: object, name: string | symbol): unknown => Reflect.get(running(), name);
  return new Proxy({}, { get }) as TestServer;
}

function defaultsFor({ location, store }: StartOptions): StartOptions {
  const isInMemory = location === undefined && store === undefined;
  return { port: 0, ...(isInMemory ? { inMemoryPersistence: true } : {}) };
}
