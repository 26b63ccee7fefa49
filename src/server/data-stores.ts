import { claimFiles } from "../content/claim.ts";
import type { ContentStore } from "../content/content.ts";
import { openContentStore } from "../content/open-content.ts";
import type { Service } from "../operation/service.ts";
import { runReclaimSteps } from "../operation/reclaim.ts";
import type { Store } from "../store/store.ts";
import { refuseHalfCopied } from "./data-copy/copy-mark.ts";
import { runInBackground } from "./background.ts";
import { openStorageBackend } from "./storage-backends.ts";
import type { Close, StorageBackend, FoundationOptions } from "./storage-backends.ts";
import { storageOpenError } from "./storage-open-error.ts";

export interface EngineOptions extends FoundationOptions {
  /** Whose records and bytes they keep. */
  readonly services: readonly Service[];
}

const storeIdBytes = 16;

/** Where records and bytes are kept. */
export interface DataStores extends Pick<StorageBackend, "owner" | "owners"> {
  readonly store: Store;
  readonly content: ContentStore;
  /** Rejects with the reason if records or bytes cannot be reached now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export async function openDataStores(options: EngineOptions): Promise<DataStores> {
  const { clock, log, random, services } = options;
  const contentTables = services.flatMap((service) => service.contentTables);
  const reclaimers = new Map(services.flatMap((service) => Object.entries(service.reclaimers)));
  const opened: Close[] = [];
  // What was opened last rests on what was opened before it.
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  try {
    const foundation = await openStorageBackend(options, opened);
    const { store, files, owner, owners, isLeader: isOnDuty } = foundation;
    await refuseHalfCopied(store);
    await claimFiles(store, files, () => Buffer.from(random.bytes(storeIdBytes)).toString("hex"));
    const content = await openContentStore({ ...foundation, clock, log, contentTables });
    opened.push(() => content.close());
    const jobs = { store, content, reclaimers };
    const chores = [
      { name: "jobs", round: async () => (await isOnDuty()) && runReclaimSteps(jobs, log) },
      { name: "content", round: () => content.reclaim() },
    ];
    const background = runInBackground(chores, { clock, log });
    opened.push(() => background.stop());
    const check = async (): Promise<void> => {
      await store.snapshot(async () => {});
      await files.check?.();
    };
    return { store, content, owner, owners, check, close };
  } catch (error) {
    await close();
    throw storageOpenError(options, error);
  }
}
