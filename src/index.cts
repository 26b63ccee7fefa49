/** The package for `require`, also inside Jest. Types of `import` are not usable from CommonJS
 *  modules (TS1471), so that they are exported again here. */
import type * as index from "./index.ts" with { "resolution-mode": "import" };

const requireIndex = require("./require-natively.cjs") as NodeJS.Require;

const etagere = requireIndex("./index.js") as typeof index;

// Only types: the values are the properties of the constant.
declare namespace etagere {
  export type EtagereServer = index.EtagereServer;
  export type ServerEvents = index.ServerEvents;
  export type StartOptions = index.StartOptions;
  export type SnapshotError = index.SnapshotError;
  export type ArchiveRefused = index.ArchiveRefused;
  export type ExportFileOptions = index.ExportFileOptions;
  export type LoadFileOptions = index.LoadFileOptions;
  export type ExportReport = index.ExportReport;
  export type LoadReport = index.LoadReport;
  export type Snapshot = index.Snapshot;
  export type ServerClock = index.ServerClock;
  export type Faults = index.Faults;
  export type PendingFault = index.PendingFault;
  export type InitInput = index.InitInput;
  export type InjectedFault = index.InjectedFault;
  export type StartRefused = index.StartRefused;
}

// @ts-expect-error -- Not erasable, but this module is always compiled.
export = etagere;
