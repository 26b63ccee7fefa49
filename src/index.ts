/** The package's entry: a server inside the process that uses it. */
export { start } from "./server/start.ts";
export type { EtagereServer } from "./server/start.ts";
export type { StartOptions } from "./server/options.ts";
export { SnapshotError } from "./store/saved-states/snapshot-error.ts";
export type { Snapshot } from "./server/snapshots/server-snapshots.ts";
export type { ServerClock } from "./server/time-travel/server-clock.ts";
export type { Faults, PendingFault } from "./server/faults/fault-injector.ts";
export type { InitInput } from "./server/init/init-input.ts";
export type { InjectedFault } from "./server/faults/fault-rule.ts";
export { StartRefused } from "./server/start-refused.ts";
