import type { Random } from "../../base/world.ts";
import type { DataStores } from "../../data/data-stores.ts";
import type { Progress } from "../progress.ts";
import type { AzuriteFolder } from "./azurite-folder.ts";
import type { StagedResources } from "./staged-resources.ts";

/** The context and counts of an import from Azurite, Microsoft's emulator (`etagere import`). */

/** What the importers of blobs, queues and tables share during the import of one folder. */
export interface ImportContext {
  readonly folder: AzuriteFolder;
  readonly stores: Pick<DataStores, "store" | "content">;
  readonly random: Random;
  readonly staged: StagedResources;
  readonly counts: ImportCounts;
  readonly progress: Progress;
}

const noneImported = {
  containers: 0,
  blobs: 0,
  snapshots: 0,
  uncommittedBlocks: 0,
  queues: 0,
  messages: 0,
  tables: 0,
  entities: 0,
  /** What is not imported: expired messages, and documents without a container, queue or table. */
  skipped: 0,
};

/** What was imported so far, for the report of the command. */
export type ImportCounts = typeof noneImported;

export function noCounts(): ImportCounts {
  return { ...noneImported };
}

/** Runs `work` for each item, at most `concurrencyMax` at a time. After the first failure no more
 *  work starts; the failure is thrown when the running work is complete. */
export async function runLimited<T>(
  items: AsyncIterable<T>,
  concurrencyMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      const task: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrencyMax) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
