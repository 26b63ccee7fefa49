import type { Random } from "../../base/world.ts";
import type { DataStores } from "../../data/data-stores.ts";
import type { Progress } from "../progress.ts";
import type { AzuriteFolder } from "./azurite-folder.ts";
import type { StagedResources } from "./staged-resources.ts";

export interface ImportContext {
  readonly folder: AzuriteFolder;
  readonly stores: Pick<DataStores, "store" | "content">;
  readonly random: Random;
  readonly staged: StagedResources;
  readonly counts: ImportCounts;
  readonly progress: Progress;
}

export interface ImportCounts {
  containers: number;
  blobs: number;
  snapshots: number;
  uncommittedBlocks: number;
  queues: number;
  messages: number;
  tables: number;
  entities: number;
  /** Expired messages, and documents without a container, queue or table. */
  skipped: number;
}

export function noCounts(): ImportCounts {
  return {
    containers: 0,
    blobs: 0,
    snapshots: 0,
    uncommittedBlocks: 0,
    queues: 0,
    messages: 0,
    tables: 0,
    entities: 0,
    skipped: 0,
  };
}
