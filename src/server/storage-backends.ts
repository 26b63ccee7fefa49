import { totalmem } from "node:os";
import { join } from "node:path";
import { openDiskFiles } from "../content/disk-files.ts";
import type { ExtentFiles } from "../content/extent-files.ts";
import { memoryFiles } from "../content/memory-files.ts";
import type { ContentOptions } from "../content/open-content.ts";
import { sharedHorizons, soloHorizons } from "../content/pins.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import { restoreRules } from "./restore-rules.ts";
import { locks } from "../file/records.ts";
import type { SetCommitRole } from "../store/commit-role.ts";
import { openLeaderElection } from "../store/leader-election.ts";
import { openLmdbStore } from "../store/lmdb/open-lmdb-store.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { openNodes } from "../store/nodes.ts";
import { openProcesses } from "../store/processes.ts";
import type { Processes } from "../store/processes.ts";
import type { Store } from "../store/store.ts";
import { makeFolder } from "./make-folder.ts";
import { readAwsSettings } from "./aws-credentials.ts";

/** Where records and contents are stored. */
export interface StorageLocations {
  /** The data folder; undefined stores everything in memory. */
  readonly location: string | undefined;
  /** `postgres://…` stores records in a database that several server nodes may share. */
  readonly storeUrl: string | undefined;
  /** `s3://…` stores contents in a bucket. */
  readonly contentUrl: string | undefined;
  /** Limit of contents in memory without a location; default half of the machine's memory. */
  readonly memoryBytesMax: number | undefined;
}

export interface StorageOptions extends StorageLocations {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Counts commits. */
  readonly meter?: Meter | undefined;
}

export type Close = () => Promise<void>;

/** An open store with its extent files, and what this process is in it. */
export interface StorageBackend extends Pick<ContentOptions, "store" | "files" | "horizons"> {
  /** Whether this process is the leader, which runs background tasks. */
  readonly isLeader: () => Promise<boolean>;
  /** Id of this process, under which it stores entries that end with it, such as handles. */
  readonly owner: string;
  /** Ids of all running processes that share the store. */
  readonly owners: () => Promise<ReadonlySet<string>>;
  /** Sets which process commits. Has an effect only for records on disk: with other stores each
   *  process commits itself. */
  readonly setCommitRole: SetCommitRole;
}

const soloOwner = "memory";
const keepCommitRole: SetCommitRole = () => Promise.resolve();
const nodeIdBytes = 12;

/** Opens the store and the extent files. Adds to `opened` a function that closes each part, so that
 *  a failed start can close what was opened. */
export async function openStorageBackend(
  options: StorageOptions,
  opened: Close[],
): Promise<StorageBackend> {
  const { location } = options;
  if (location === undefined) return inMemory(options, opened);
  await makeFolder(location);
  const { store, ephemeral, processes, setCommitRole } =
    options.storeUrl === undefined
      ? await onDisk(location, options, opened)
      : await inDatabase(options.storeUrl, options, opened);
  opened.push(() => processes.close());
  const files =
    options.contentUrl === undefined
      ? await openDiskFiles(join(location, "extents"), options.log)
      : await inBucket(options.contentUrl, options, opened);
  const owners = async () => new Set((await processes.live()).map(({ id }) => id));
  const { self: owner } = processes;
  const isOnDuty = openLeaderElection({
    store: ephemeral,
    name: "background",
    self: owner,
    owners,
  });
  const horizons = sharedHorizons(processes);
  return { store, files, horizons, owner, owners, isLeader: isOnDuty, setCommitRole };
}

interface SharedStore {
  readonly store: Store;
  readonly ephemeral: Store;
  readonly processes: Processes;
  readonly setCommitRole: SetCommitRole;
}

function inMemory(options: StorageOptions, opened: Close[]): StorageBackend {
  const { clock, log, meter, memoryBytesMax } = options;
  const store = openMemoryStore({ clock, log, meter, restoreRules });
  opened.push(() => store.close());
  const bytesMax = memoryBytesMax ?? Math.floor(totalmem() / 2);
  const owners = () => Promise.resolve(new Set([soloOwner]));
  const files = memoryFiles({ bytesMax });
  const isOnDuty = () => Promise.resolve(true);
  return {
    store,
    files,
    horizons: soloHorizons(soloOwner),
    owner: soloOwner,
    owners,
    isLeader: isOnDuty,
    setCommitRole: keepCommitRole,
  };
}

async function onDisk(
  location: string,
  { clock, log, meter }: StorageOptions,
  opened: Close[],
): Promise<SharedStore> {
  const records = { location: join(location, "store"), volatilePrefix: locks.prefix([]) };
  const store = await openLmdbStore({ ...records, clock, log, meter, restoreRules });
  opened.push(() => store.close());
  const ephemeralOptions = { location: join(location, "ephemeral"), ephemeral: true };
  const ephemeral = await openLmdbStore({ ...ephemeralOptions, clock, log });
  opened.push(() => ephemeral.close());
  const processes = await openProcesses({ store: ephemeral });
  const setCommitRole: SetCommitRole = (role) => store.setCommitRole(role);
  return { store, ephemeral, processes, setCommitRole };
}

/** The driver is loaded on demand: most servers do not use PostgreSQL. */
async function inDatabase(
  url: string,
  { clock, random, log, meter }: StorageOptions,
  opened: Close[],
): Promise<SharedStore> {
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  const node = Buffer.from(random.bytes(nodeIdBytes)).toString("hex");
  const store = await openPostgresStore({ url, node, clock, log, meter });
  opened.push(() => store.close());
  const ephemeral = await openPostgresStore({ url, node, clock, log, ephemeral: true });
  opened.push(() => ephemeral.close());
  const giveUp = (other: string): Promise<void> => store.fence(other);
  const processes = await openNodes({ store: ephemeral, self: node, clock, log, fence: giveUp });
  return { store, ephemeral, processes, setCommitRole: keepCommitRole };
}

async function inBucket(
  location: string,
  { clock }: StorageOptions,
  opened: Close[],
): Promise<ExtentFiles> {
  const { openS3Files } = await import("../content/s3/open-s3-files.ts");
  const renewCredentials = async () => (await readAwsSettings()).credentials;
  const settings = { ...(await readAwsSettings()), renewCredentials };
  const files = await openS3Files({ location, ...settings, clock });
  opened.push(async () => files.close());
  return files;
}
