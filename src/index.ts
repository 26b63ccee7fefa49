/** The package's entry: a server inside the process that uses it. */
import type { StartOptions } from "./server/options.ts";
import type { EtagereServer } from "./server/start.ts";

/** Starts a server in this process, without output. Rejects with `StartRefused` if it cannot
 *  start. The modules of the server are loaded on the first call: some of them await at the top
 *  level, which `require("etagere")` does not allow. */
export async function start(options: StartOptions = {}): Promise<EtagereServer> {
  const server = await import("./server/start.ts");
  return server.start(options);
}

export type { EtagereServer } from "./server/start.ts";
export type { StartOptions } from "./server/options.ts";
export { SnapshotError } from "./store/saved-states/snapshot-error.ts";
export { ArchiveRefused } from "./server/archive/archive-refused.ts";
export type { ExportFileOptions, LoadFileOptions } from "./server/archive/archive-file.ts";
export type { ExportReport } from "./server/archive/export-accounts.ts";
export type { LoadReport } from "./server/archive/load-archive.ts";
export type { Snapshot } from "./server/snapshots/server-snapshots.ts";
export type { ServerClock } from "./server/time-travel/server-clock.ts";
export type { Faults, PendingFault } from "./server/faults/fault-injector.ts";
export type { InitInput } from "./server/init/init-input.ts";
export type { InjectedFault } from "./server/faults/fault-rule.ts";
export { StartRefused } from "./server/start-refused.ts";
