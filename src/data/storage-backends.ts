import { homedir } from "node:os";
import { join } from "node:path";
import { openDiskFiles } from "../content/extents/disk-files.ts";
import type { ExtentFiles } from "../content/extents/extent-files.ts";
import { memoryFiles } from "../content/extents/memory-files.ts";
import type { ContentOptions } from "../content/open-content.ts";
import { sharedHorizons, soloHorizons } from "../content/reclaim/pins.ts";
import type { Meter } from "../protocol/meter.ts";
import type { World } from "../base/world.ts";
import { recordRules, restoreRules } from "./services.ts";
import { encryptedFiles } from "../content/extents/encrypted-files.ts";
import { Cipher } from "../store/encryption/cipher.ts";
import {
  followKeyring,
  openKeyring,
  refuseEncrypted,
  type DataKey,
} from "../store/encryption/keyring.ts";
import { ScopeKeys } from "../store/encryption/scope-keys.ts";
import { recordCipher } from "../store/encryption/record-cipher.ts";
import type { ValueCodec } from "../store/engine.ts";
import { readMasterKey } from "../host/master-key.ts";
import { locks } from "../file/records.ts";
import { openLeaderElection } from "../store/leader-election.ts";
import { recordsFile } from "../store/lmdb/data-file.ts";
import { openLmdbStore } from "../store/lmdb/open-lmdb-store.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { hasNoNodes, openNodes } from "../store/nodes.ts";
import { openProcesses, type Processes } from "../store/processes.ts";
import type { Store } from "../store/store.ts";
import { makeFolder } from "../host/files.ts";
import { availableMemoryBytes, shareOfMemory } from "../host/process.ts";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { StartRefused } from "../host/refused.ts";
import { namesIn } from "../process/folder-listing.ts";
import type { BucketDefaults } from "../content/s3/bucket.ts";
import type { Credentials } from "../content/s3/signature.ts";
import { environmentVariable } from "../host/world.ts";

/** Chooses and opens the engines of a server by its options: memory, LMDB or PostgreSQL for
 *  records; memory, files or S3 for contents. */

/** Where records and contents are stored. */
interface StorageLocations {
  /** The data folder; undefined stores everything in memory. */
  readonly location: string | undefined;
  /** `postgres://…` stores records in a database that several server nodes may share. */
  readonly storeUrl: string | undefined;
  /** `s3://…` stores contents in a bucket. */
  readonly contentUrl: string | undefined;
  /** Limit of contents in memory without a location; default half of the memory of the machine or
   *  container. */
  readonly memoryBytesMax: number | undefined;
  /** Source of the master key (`host/master-key.ts`); undefined: nothing is encrypted. */
  readonly encryption?: string | undefined;
}

/** What opening the storage of a server needs. */
export interface StorageOptions extends World, StorageLocations {
  /** Counts commits, for the metrics. */
  readonly meter?: Meter | undefined;
  /** Data keys for a new, encrypted storage, instead of new ones: `etagere copy` passes those of
   *  its source. */
  readonly dataKeys?: readonly DataKey[] | undefined;
  /** How many workers of this server share the memory; default 1. */
  readonly workerCount?: number | undefined;
}

export type Close = () => Promise<void>;

/** An open store with its extent files, and the role of this process among those that share it. */
export interface StorageBackend extends Pick<
  ContentOptions,
  "store" | "files" | "horizons" | "scopeKeys"
> {
  /** Whether this process is the leader, which runs background tasks. */
  readonly isLeader: () => Promise<boolean>;
  /** Id of this process. Entries stored under it (handles, for example) are removed when the
   *  process has ended. */
  readonly owner: string;
  /** Ids of all running processes that share the store. */
  readonly owners: () => Promise<ReadonlySet<string>>;
  /** Calls a function when other processes may begin to remove the handles and locks of this one
   *  although it runs (`Processes`). */
  readonly onCutOff: (listener: () => void) => void;
}

interface OpenedStorage extends StorageBackend {
  /** The extent files as they are stored, without decryption, for copies. */
  readonly storedFiles: ExtentFiles;
  /** Undefined if nothing is encrypted. */
  readonly dataKeys?: readonly DataKey[] | undefined;
}

/** Opens a storage. Adds to `opened` a function that closes each part, so that a failed start can
 *  close what was opened. */
export type OpenStorage = (opened: Close[]) => Promise<StorageBackend>;

const soloOwner = "memory";
const nodeIdBytes = 12;

/** Opens the store and the extent files that the options select. Adds to `opened` a function that
 *  closes each part, so that a failed start can close what was opened. */
export async function openStorageBackend(
  options: StorageOptions,
  opened: Close[],
): Promise<OpenedStorage> {
  const { location } = options;
  if (location === undefined) return inMemory(options, opened);
  await makeFolder(location);
  const encryption = await beginEncryption(options);
  const { store, ephemeral, processes } =
    options.storeUrl === undefined
      ? await onDisk(location, { ...options, ...encryption }, opened)
      : await inDatabase(options.storeUrl, { ...options, ...encryption }, opened);
  opened.push(() => processes.close());
  const dataKeys = await openDataKeys({ ...options, store }, encryption, opened);
  const storedFiles =
    options.contentUrl === undefined
      ? await openDiskFiles(join(location, "extents"), options.log)
      : await inBucket(options.contentUrl, options, opened);
  const files =
    encryption === undefined
      ? storedFiles
      : encryptedFiles(storedFiles, encryption.cipher, encryption.caches.chunkBytesMax);
  const [firstKey] = dataKeys ?? [];
  const scopeKeys = firstKey && new ScopeKeys(firstKey.key, options.random);
  const stores = { store, files, storedFiles, dataKeys, scopeKeys };
  return { ...stores, ...roleAmong(processes, ephemeral) };
}

/** The part of an opened storage that depends on the other processes that share it. */
export function roleAmong(
  processes: Processes,
  ephemeral: Store,
): Pick<StorageBackend, "horizons" | "owner" | "owners" | "onCutOff" | "isLeader"> {
  const { self: owner } = processes;
  const owners = async () => new Set((await processes.live()).map(({ id }) => id));
  const common = { store: ephemeral, name: "background" };
  return {
    horizons: sharedHorizons(processes),
    owner,
    owners,
    onCutOff: (listener) => processes.onCutOff(listener),
    isLeader: openLeaderElection({ ...common, self: owner, owners }),
  };
}

/** The cipher of an encrypted storage before its data keys are read, and the codec that encrypts
 *  values with it. */
interface Encryption {
  readonly master: Uint8Array;
  readonly cipher: Cipher;
  readonly values: ValueCodec;
  readonly caches: DecryptedCaches;
}

/** Limits of the decrypted bytes that a process keeps in memory. */
interface DecryptedCaches {
  readonly recordBytesMax: number;
  readonly chunkBytesMax: number;
}

const mebibyte = 1024 * 1024;
/** Decrypted bytes in memory: 1/32 of it. */
const decryptedBytes = {
  memoryBytesPerUnit: 32,
  unitsMax: 256 * mebibyte,
  unitsPerWorkerMin: 8 * mebibyte,
};
/** The part of them that is for values of records; the rest is for chunks of content. */
const recordsShare = 1 / 4;

/** The limits of one of the workers that share the memory. */
export function decryptedCaches(memoryBytes: number, workerCount = 1): DecryptedCaches {
  const bytesMax = shareOfMemory(decryptedBytes, memoryBytes, workerCount);
  const recordBytesMax = bytesMax * recordsShare;
  return { recordBytesMax, chunkBytesMax: bytesMax - recordBytesMax };
}

async function beginEncryption({
  encryption,
  random,
  workerCount,
}: StorageOptions): Promise<Encryption | undefined> {
  if (encryption === undefined) return undefined;
  const master = await readMasterKey(encryption);
  const cipher = new Cipher({ random });
  const caches = decryptedCaches(availableMemoryBytes(), workerCount);
  const values = recordCipher(cipher, recordRules, caches.recordBytesMax);
  return { master, cipher, values, caches };
}

/** Gives the cipher the data keys that the store has; refuses a store that is encrypted otherwise
 *  than the options say. */
async function openDataKeys(
  options: StorageOptions & { readonly store: Store },
  encryption: Encryption | undefined,
  opened: Close[],
): Promise<readonly DataKey[] | undefined> {
  const { store, random, dataKeys } = options;
  if (encryption === undefined) {
    await refuseEncrypted(store);
    return undefined;
  }
  const keys = await openKeyring({ store, random, master: encryption.master, keys: dataKeys });
  const stop = await followKeyring({ ...options, ...encryption }, keys);
  opened.push(async () => stop());
  return keys;
}

type EncodedOptions = StorageOptions & Pick<Partial<Encryption>, "values">;

interface SharedStore {
  readonly store: Store;
  readonly ephemeral: Store;
  readonly processes: Processes;
}

function inMemory(options: StorageOptions, opened: Close[]): OpenedStorage {
  const { clock, log, meter, memoryBytesMax } = options;
  const store = openMemoryStore({ clock, log, meter, restoreRules });
  opened.push(() => store.close());
  const bytesMax = memoryBytesMax ?? Math.floor(availableMemoryBytes() / 2);
  const owners = () => Promise.resolve(new Set([soloOwner]));
  const files = memoryFiles({ bytesMax });
  return {
    store,
    files,
    storedFiles: files,
    horizons: soloHorizons(soloOwner),
    owner: soloOwner,
    owners,
    onCutOff: () => undefined,
    isLeader: () => Promise.resolve(true),
  };
}

async function onDisk(
  location: string,
  { clock, log, meter, values }: EncodedOptions,
  opened: Close[],
): Promise<SharedStore> {
  const records = { location: join(location, "store"), volatilePrefix: locks.prefix([]) };
  refuseContentsAlone(location, records.location);
  const store = await openLmdbStore({ ...records, clock, log, meter, restoreRules, values });
  opened.push(() => store.close());
  const ephemeralOptions = { location: join(location, "ephemeral"), ephemeral: true };
  const ephemeral = await openLmdbStore({ ...ephemeralOptions, clock, log });
  opened.push(() => ephemeral.close());
  const processes = await openProcesses({ store: ephemeral });
  return { store, ephemeral, processes };
}

/** Refuses contents without records, as a restore leaves them that was interrupted: all of them
 *  would be deleted, because no record refers to them. */
function refuseContentsAlone(location: string, recordsFolder: string): void {
  if (existsSync(join(recordsFolder, recordsFile))) return;
  const contents = join(location, "extents");
  const names = existsSync(contents) ? namesIn(contents) : [];
  if (!names.some((name) => name.endsWith(".extent"))) return;
  throw new StartRefused([
    `${location} has contents (extents) without their records (store): restore both from one ` +
      "backup, or choose an empty folder",
  ]);
}

/** Opens records in PostgreSQL. Imports its driver only here: most servers do not use it. */
async function inDatabase(
  url: string,
  { clock, random, log, meter, values }: EncodedOptions,
  opened: Close[],
): Promise<SharedStore> {
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  const node = Buffer.from(random.bytes(nodeIdBytes)).toString("hex");
  const store = await openPostgresStore({ url, node, clock, log, meter, values });
  opened.push(() => store.close());
  const ephemeral = await openPostgresStore({ url, node, clock, log, ephemeral: true });
  opened.push(() => ephemeral.close());
  const isAlone = await hasNoNodes(ephemeral);
  await Promise.all([store, ephemeral].map((each) => each.keepTime(isAlone)));
  const fence = (other: string): Promise<void> => store.fence(other);
  const assertNotFenced = (): Promise<void> => store.assertNotFenced();
  const self = { self: node, clock, log };
  const processes = await openNodes({ store: ephemeral, ...self, fence, assertNotFenced });
  return { store, ephemeral, processes };
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

type Variable = (name: string) => string | undefined;

interface AwsSettings extends BucketDefaults {
  readonly credentials: Credentials;
}

/** Reads credentials and region from the AWS_* variables, else from the files of the AWS tools. */
export async function readAwsSettings(
  variable: Variable = environmentVariable,
): Promise<AwsSettings> {
  const profile = variable("AWS_PROFILE") ?? "default";
  const folder = join(homedir(), ".aws");
  const path = variable("AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials");
  const secrets = sectionOf(await textOf(path), [profile]);
  const config = sectionOf(await textOf(variable("AWS_CONFIG_FILE") ?? join(folder, "config")), [
    profile,
    `profile ${profile}`,
  ]);
  const credentials =
    credentialsIn(variable, (name) => name.toUpperCase()) ??
    credentialsIn((name) => secrets.get(name) ?? config.get(name));
  if (credentials === undefined) {
    throw new Error(
      `set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give profile ${profile} in ${path}`,
    );
  }
  const region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? config.get("region");
  const endpoint =
    variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? config.get("endpoint_url");
  return { credentials, region, endpoint };
}

function credentialsIn(
  value: Variable,
  spell: (name: string) => string = (name) => name,
): Credentials | undefined {
  const accessKeyId = value(spell("aws_access_key_id"));
  const secretAccessKey = value(spell("aws_secret_access_key"));
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: value(spell("aws_session_token")) };
}

function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** The values in all sections of an AWS file that have one of these headings, by name. */
function sectionOf(text: string, headings: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isWanted = false;
  for (const line of text.split("\n")) {
    const heading = /^\s*\[([^\]]+)\]/.exec(line)?.[1]?.trim();
    if (heading !== undefined) isWanted = headings.includes(heading);
    const pair = /^\s*(\w+)\s*=\s*(\S+)/.exec(line);
    if (pair !== null && isWanted) values.set(pair[1] ?? "", pair[2] ?? "");
  }
  return values;
}
