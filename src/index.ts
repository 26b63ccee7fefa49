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

export type { EtagereServer, ServerEvents } from "./server/start.ts";
export type { StartOptions } from "./server/options.ts";
export { SnapshotError } from "./store/saved-states/saved-states.ts";
export { ArchiveRefused } from "./host/refused.ts";
export type { ExportFileOptions, LoadFileOptions } from "./commands/archive/archive-file.ts";
export type { ExportReport } from "./commands/archive/export-accounts.ts";
export type { LoadReport } from "./commands/archive/load-archive.ts";
export type { Snapshot } from "./controls/server-snapshots.ts";
export type { ServerClock } from "./controls/travelling-clock.ts";
export type { Faults, PendingFault } from "./controls/fault-injector.ts";
export type { InitInput } from "./commands/init/init-input.ts";
export type { InjectedFault } from "./controls/fault-injector.ts";
export { StartRefused } from "./host/refused.ts";
