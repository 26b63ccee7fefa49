import { runInThisContext } from "node:vm";
import type { StartOptions } from "../server/options.ts";
import type { RunningServer } from "../server/running-server.ts";
import type { Snapshot } from "../controls/server-snapshots.ts";
import type { InProcessServer } from "../server/start.ts";
import { readVersion } from "../host/version.ts";

/** Servers that the test files of one worker of a test runner share, one after the other.
 *  `test-server.ts` acquires and releases them. */

/** A server that a test file uses. A test runner runs files one after the other in worker processes
 *  or threads; the files of a worker share one server, which saves the time of its start. */
export interface AcquiredServer extends InProcessServer {
  /** Undefined if the server is for one test file. */
  readonly shared?: { readonly key: string; readonly unchanged: Snapshot };
}

/** The server of this worker while no test file uses it. */
interface IdleServer extends InProcessServer {
  readonly key: string;
}

interface WorkerState {
  idle?: IdleServer | undefined;
}

/** Options that name files or addresses outside the process. Their content may change between test
 *  files, so such a server is for one file. */
const externalOptions: readonly (keyof StartOptions)[] = [
  "location",
  "store",
  "storeFile",
  "content",
  "config",
  "https",
  "cert",
  "key",
  "pwdFile",
  "adminTokenFile",
  "debug",
  "auditLog",
];

/** Takes the idle server of this worker if it was started with the same options, and otherwise
 *  starts one. Then creates the resources of `init`. */
export async function acquireServer(options: StartOptions): Promise<AcquiredServer> {
  if (externalOptions.some((name) => options[name] !== undefined)) {
    const { startInProcess } = await import("../server/start.ts");
    return startInProcess({ port: 0, ...memoryUnless(options), ...options });
  }
  const { init, ...rest } = options;
  const key = keyOf(rest);
  const started = (await takeIdle(key)) ?? (await startShared(rest));
  try {
    const unchanged = await started.api.snapshot();
    await started.server.init(init);
    return { ...started, shared: { key, unchanged } };
  } catch (error) {
    await started.api.stop();
    throw error;
  }
}

async function startShared(options: StartOptions): Promise<InProcessServer> {
  const { startInProcess } = await import("../server/start.ts");
  const started = await startInProcess({ port: 0, inMemoryPersistence: true, ...options });
  // The server runs until the worker ends; unreferenced, it does not keep the worker running.
  started.server.listeners.unref();
  return started;
}

function keyOf(options: StartOptions): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return JSON.stringify(given.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Returns a server to the state of its start and keeps it for the next test file of this worker.
 *  Stops it if the next file could see a difference. */
export async function releaseServer({ shared, ...started }: AcquiredServer): Promise<void> {
  const { api, server, clock } = started;
  const state = workerState();
  // Time cannot be moved back, so the next file would see another time.
  if (shared === undefined || clock.ahead() > 0n) return api.stop();
  try {
    api.faults.clear();
    await api.restore(shared.unchanged);
    await deleteSnapshotsFrom(server, shared.unchanged);
  } catch (error) {
    await api.stop();
    throw error;
  }
  if (state.idle === undefined) state.idle = { ...started, key: shared.key };
  else await api.stop();
}

/** Deletes a snapshot and those that were saved after it. */
export async function deleteSnapshotsFrom(
  { controls: { snapshots } }: Pick<RunningServer, "controls">,
  { name }: Snapshot,
): Promise<void> {
  const names = snapshots.list().map((entry) => entry.name);
  const first = names.indexOf(name);
  if (first < 0) return;
  for (const later of names.slice(first)) await snapshots.delete(later);
}

async function takeIdle(key: string): Promise<IdleServer | undefined> {
  const state = workerState();
  const { idle } = state;
  state.idle = undefined;
  if (idle === undefined || idle.key === key) return idle;
  await idle.api.stop();
  return undefined;
}

/** The state that the test files of this worker share. Test runners load modules again for each
 *  file, in a separate context; the main context of the worker is the same for all files. */
function workerState(): WorkerState {
  const main = runInThisContext("globalThis") as Record<symbol, WorkerState | undefined>;
  return (main[Symbol.for(`etagere ${readVersion()} test server`)] ??= {});
}

function memoryUnless({ location, store, storeFile }: StartOptions): StartOptions {
  const isElsewhere = [location, store, storeFile].some((each) => each !== undefined);
  return isElsewhere ? {} : { inMemoryPersistence: true };
}
