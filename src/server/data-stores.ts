import { availableParallelism } from "node:os";
import { claimFiles } from "../content/claim.ts";
import type { ContentStore } from "../content/content.ts";
import { Md5Thread } from "../content/md5-thread.ts";
import { openContentStore } from "../content/open-content.ts";
import type { Service } from "../operation/service.ts";
import { Quotas } from "../operation/quotas.ts";
import { runReclaimSteps } from "../operation/reclaim.ts";
import type { Store } from "../store/store.ts";
import { refuseHalfCopied } from "./data-copy/copy-mark.ts";
import { runInBackground } from "./background.ts";
import { scrubInBackground } from "./scrub.ts";
import { openStorageBackend } from "./storage-backends.ts";
import type { Close, StorageBackend, StorageOptions } from "./storage-backends.ts";
import { storageOpenError } from "./storage-open-error.ts";
import { UsageCounts } from "./usage/usage-counts.ts";
import { watchQuotas } from "./usage/watch-quotas.ts";

export interface DataStoreOptions extends StorageOptions {
  /** The services whose records are stored. */
  readonly services: readonly Service[];
  /** How fast content is compared with its checksums; undefined: not at all. */
  readonly scrubBytesPerSecond?: number | undefined;
}

const storeIdBytes = 16;

/** The open record store and content store of a server. */
export interface DataStores extends Pick<StorageBackend, "owner" | "owners" | "setCommitRole"> {
  readonly store: Store;
  readonly content: ContentStore;
  readonly quotas: Quotas;
  /** Throws with the reason if records or contents are unavailable. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stores that the options select. If one cannot be opened, closes the others and
 *  throws. */
export async function openDataStores(options: DataStoreOptions): Promise<DataStores> {
  const { clock, log, random, services } = options;
  const contentTables = services.flatMap((service) => service.contentTables);
  const reclaimers = new Map(services.flatMap((service) => Object.entries(service.reclaimers)));
  const opened: Close[] = [];
  // Closes in reverse order of opening, because later parts use earlier ones.
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  try {
    const foundation = await openStorageBackend(options, opened);
    const { store, files, owner, owners, isLeader, setCommitRole } = foundation;
    await refuseHalfCopied(store);
    await claimFiles(store, files, () => Buffer.from(random.bytes(storeIdBytes)).toString("hex"));
    const md5Thread = availableParallelism() > 1 ? new Md5Thread() : undefined;
    const parts = { ...foundation, clock, log, contentTables, md5Thread };
    const content = await openContentStore(parts);
    opened.push(() => content.close());
    const quotas = new Quotas();
    const watching = await watchQuotas(store, quotas, log);
    opened.push(() => watching.stop());
    const jobs = { store, content, reclaimers, quotas };
    const counts = new UsageCounts({ store, content, clock, log });
    const tasks = [
      { name: "jobs", round: async () => (await isLeader()) && runReclaimSteps(jobs, log) },
      { name: "content", round: () => content.reclaim() },
      { name: "usage", round: async () => (await isLeader()) && counts.countNext() },
    ];
    const background = runInBackground(tasks, { clock, log });
    opened.push(() => background.stop());
    const { scrubBytesPerSecond: bytesPerSecond, meter } = options;
    if (bytesPerSecond !== undefined) {
      const scrub = scrubInBackground({ ...parts, content, isLeader, meter, bytesPerSecond });
      opened.push(() => scrub.stop());
    }
    const check = async (): Promise<void> => {
      await store.snapshot(async () => {});
      await files.check?.();
    };
    return { store, content, quotas, owner, owners, setCommitRole, check, close };
  } catch (error) {
    await close();
    throw storageOpenError(options, error);
  }
}
