import { availableParallelism } from "node:os";
import { FeedTask } from "../blob/change-feed/run-feed.ts";
import { claimFiles, openContentStore } from "../content/open-content.ts";
import type { ContentStore } from "../content/content.ts";
import { Md5Threads } from "../content/body/md5-thread.ts";
import { Quotas } from "../operation/quotas.ts";
import { runReclaimSteps } from "../operation/reclaim.ts";
import type { Store } from "../store/store.ts";
import { refuseHalfCopied } from "./copy-mark.ts";
import { runInBackground, type Background } from "./background.ts";
import { contentTables, reclaimers } from "./services.ts";
import {
  openStorageBackend,
  type Close,
  type OpenStorage,
  type StorageBackend,
  type StorageOptions,
} from "./storage-backends.ts";
import { UsageCounts, watchQuotas } from "./usage-counts.ts";
import type { Clock, Log } from "../base/world.ts";
import { Scrubber, type ScrubberOptions } from "../content/audit/scrubber.ts";
import type { Meter } from "../protocol/meter.ts";
import { withoutPassword } from "../store/postgres/addresses.ts";
import { messageOf, StartRefused, systemErrorCode } from "../host/refused.ts";

/** Opens the record store and the content store of a server, with the background tasks on them.
 *  `server/running-server.ts` calls it. */

interface DataStoreOptions extends StorageOptions {
  /** How fast content is compared with its checksums; undefined: not at all. */
  readonly scrubBytesPerSecond?: number | undefined;
  /** Opens the storage of a simulated machine; undefined: the locations select one. */
  readonly openStorage?: OpenStorage | undefined;
}

const storeIdBytes = 16;

/** The open record store and content store of a server. */
export interface DataStores extends Pick<
  StorageBackend,
  "owner" | "owners" | "onCutOff" | "isLeader"
> {
  readonly store: Store;
  readonly content: ContentStore;
  readonly quotas: Quotas;
  /** Throws with the reason if records or contents are unavailable, or the records read-only. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stores that the options select. If one fails, closes the opened ones and throws. */
export async function openDataStores(options: DataStoreOptions): Promise<DataStores> {
  const { clock, log, random } = options;
  const opened: Close[] = [];
  // Closes in reverse order of opening, because later parts use earlier ones.
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  try {
    const { openStorage } = options;
    const foundation = await (openStorage?.(opened) ?? openStorageBackend(options, opened));
    const { store, files, owner, owners, onCutOff, isLeader } = foundation;
    await refuseHalfCopied(store);
    await claimFiles(store, files, () => Buffer.from(random.bytes(storeIdBytes)).toString("hex"));
    const hasThreads = openStorage === undefined && availableParallelism() > 1;
    const md5Thread = hasThreads ? new Md5Threads() : undefined;
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
    const runtime = { store, content, random, clock };
    const feeds = new FeedTask({ runtime, clock, log, isLeader });
    opened.push(() => feeds.stop());
    const { scrubBytesPerSecond: bytesPerSecond, meter } = options;
    if (bytesPerSecond !== undefined) {
      const scrub = scrubInBackground({ ...parts, content, isLeader, meter, bytesPerSecond });
      opened.push(() => scrub.stop());
    }
    const check = async (): Promise<void> => {
      await store.snapshot(async () => {});
      // Reads of a deleted file still work, so without this the server would count as ready.
      store.checkWritable?.();
      await files.check?.();
    };
    return { store, content, quotas, owner, owners, onCutOff, isLeader, check, close };
  } catch (error) {
    await close();
    throw storageOpenError(options, error);
  }
}

interface ScrubOptions extends ScrubberOptions {
  readonly bytesPerSecond: number;
  readonly isLeader: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Meter | undefined;
}

/** Pauses of the scrub (the comparison of content with its checksums): after all content was
 *  compared, in processes that are not the leader, and at least between two steps. */
const passPauseMilliseconds = 3_600_000;
const followerPauseMilliseconds = 5000;
const pauseMillisecondsMin = 100;

/** Compares all content with its checksums again and again, on average at the given rate, so that
 *  damaged bytes are found before a client reads them. */
function scrubInBackground(options: ScrubOptions): Background {
  const { clock, log, meter, isLeader, bytesPerSecond } = options;
  const scrubber = new Scrubber(options);
  const pass = { bytes: 0, problems: 0 };
  const round = async (): Promise<number> => {
    if (!(await isLeader())) return followerPauseMilliseconds;
    const { bytes, problems, isPassDone } = await scrubber.step();
    meter?.scrubbed?.(bytes, problems);
    pass.bytes += bytes;
    pass.problems += problems;
    if (!isPassDone) return Math.max(pauseMillisecondsMin, (1000 * bytes) / bytesPerSecond);
    log.info({ ...pass }, "all content compared with its checksums");
    Object.assign(pass, { bytes: 0, problems: 0 });
    return passPauseMilliseconds;
  };
  const firstMilliseconds = pauseMillisecondsMin;
  return runInBackground([{ name: "scrub", round }], { clock, log, firstMilliseconds });
}

interface ChosenLocations {
  readonly location: string | undefined;
  readonly storeUrl: string | undefined;
  readonly contentUrl: string | undefined;
}

/** A start-up error that names the location. Messages of the engines, for example about a newer
 *  format, are meant for the user and are kept. */
function storageOpenError(
  { location, storeUrl, contentUrl }: ChosenLocations,
  error: unknown,
): unknown {
  if (location === undefined) return error;
  const places = [
    ...(storeUrl === undefined ? [] : [`store: ${withoutPassword(storeUrl)}`]),
    ...(contentUrl === undefined ? [] : [`content: ${contentUrl}`]),
  ];
  const place = places.length === 0 ? `location: ${location}` : places.join(", ");
  return new StartRefused([`${place} cannot be used: ${explain(error)}`], error);
}

function explain(error: unknown): string {
  switch (systemErrorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "no permission to read and write";
    case "ENOTDIR":
    case "EEXIST":
      return "it is not a folder";
    case "ENOSPC":
      return "the disk is full";
    case "EMFILE":
    case "ENFILE":
      return "too many open files; raise the limit, for example with `ulimit -n 4096`";
    case "EROFS":
      return "the disk is read-only";
    default:
      return messageOf(error);
  }
}
