import { rmSync, existsSync, linkSync } from "node:fs";
import { join, dirname } from "node:path";

import { namesIn } from "../../process/folder-listing.ts";
import type { Clock, Log } from "../../base/world.ts";
import { encodedEngine } from "../encryption/record-cipher.ts";
import type { ValueCodec } from "../engine.ts";
import { makePrivateFolder, syncFolder } from "../folders.ts";
import type { Key, Store } from "../store.ts";
import {
  setClockOffset,
  TransactionalStore,
  type TransactionalStoreOptions,
} from "../transactional-store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { awaitLocation, writeFormat } from "./location.ts";
import { checkLength, recordsFile, removeSparseLockFile } from "./data-file.ts";
import { isAheadOf, OverlayEngine, volatileRange } from "./overlay-engine.ts";

/** Opens and closes the store in a folder: claims the folder, creates its files so that a loss of
 *  power cannot leave half of one, sets the store time, frees what killed processes have left.
 *  `data/storage-backends.ts` calls it. */

interface LmdbStoreOptions extends Omit<TransactionalStoreOptions, "engine" | "closeEngine"> {
  /** The folder of the store; created if missing. */
  readonly location: string;
  readonly log: Log;
  /** Whether the store is never flushed, and empty after a boot: for the lists of processes. */
  readonly ephemeral?: boolean;
  /** Prefix of volatile keys (opens and locks of SMB). A commit that changes only them is not
   *  flushed, and is lost with the boot. */
  readonly volatilePrefix?: Key;
  /** Encrypts the values; undefined: they are stored as they are. */
  readonly values?: ValueCodec | undefined;
}

/** Interval of the search for killed processes: they are rare, but let the file grow. */
const readersCheckMilliseconds = 30_000;

/** Opens the store in a folder, which contains `format`, `open/` (a marker file per process, see
 *  `location.ts`) and `store.mdb`. Volatile keys are in a second file, `ephemeral-<boot>.mdb`; an
 *  ephemeral store has only that one. It is never flushed, so a loss of power may corrupt it: such
 *  files of earlier boots are removed without being opened. */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { location, clock, log, ephemeral = false } = options;
  makePrivateFolder(location, log);
  const claim = await awaitLocation({ location, clock }, log);
  const name = ephemeral ? ephemeralName(clock) : recordsFile;
  if (ephemeral) removeEarlierBoots(location, name);
  try {
    // A file that ends with the boot has no data for another release.
    if (!ephemeral) writeFormat(location);
    if (claim.isExclusive) removeSparseLockFile(join(location, name));
    if (!ephemeral) await ensureStoreFile(join(location, name));
    const durable = new LmdbEngine({ path: join(location, name), noSync: ephemeral, clock, log });
    const engine = await withVolatileFile(options, durable, claim.isExclusive);
    await setClockOffset(engine, clock, claim.isExclusive);
    log.debug({ location, ephemeral, isExclusive: claim.isExclusive }, "store opened");
    const stopChecking = checkReadersRegularly(engine, clock, log);
    const closeEngine = async (): Promise<void> => {
      stopChecking();
      await engine.close();
      claim.release();
    };
    const { values } = options;
    const encoded = values === undefined ? engine : encodedEngine(engine, values);
    const checkEngine = (): void => durable.checkFile();
    return new TransactionalStore({ ...options, engine: encoded, closeEngine, checkEngine });
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** Adds the file of volatile keys (opens and locks). It is discarded if it follows commits that the
 *  durable file does not contain, for example if that was restored from a backup. */
async function withVolatileFile(
  { location, clock, volatilePrefix }: LmdbStoreOptions,
  durable: LmdbEngine,
  isExclusive: boolean,
): Promise<LmdbEngine | OverlayEngine> {
  if (volatilePrefix === undefined) return durable;
  const name = ephemeralName(clock);
  const path = join(location, name);
  removeEarlierBoots(location, name);
  if (isExclusive) removeSparseLockFile(path);
  let volatile = new LmdbEngine({ path, noSync: true });
  if (isExclusive && isAheadOf(volatile, durable)) {
    await volatile.close();
    rmSync(path);
    volatile = new LmdbEngine({ path, noSync: true });
  }
  const engine = new OverlayEngine(durable, volatile, volatileRange(volatilePrefix));
  if (isExclusive) await engine.reconcileAll();
  return engine;
}

/** Frees the reader slots of killed processes every 30 s. An exception in a timer would end the
 *  process, so it is logged; the next check tries again. */
export function checkReadersRegularly(
  engine: { checkReaders(): void },
  clock: Clock,
  log: Log,
): () => void {
  let cancel = clock.after(readersCheckMilliseconds, function check() {
    cancel = clock.after(readersCheckMilliseconds, check);
    try {
      engine.checkReaders();
    } catch (error) {
      log.warn({ err: error }, "freeing the slots of killed readers failed; retrying in 30 s");
    }
  });
  return () => cancel();
}

function ephemeralName(clock: Clock): string {
  return `ephemeral-${clock.bootId.replaceAll(/[^A-Za-z0-9-]/g, "_")}.mdb`;
}

function removeEarlierBoots(location: string, currentName: string): void {
  for (const name of namesIn(location)) {
    const isEarlier = name.startsWith("ephemeral-") && !name.startsWith(currentName);
    if (isEarlier) rmSync(join(location, name), { force: true });
  }
}

/** Creates the file of a new store, which gets its name only when it is complete and flushed. The
 *  library writes the first pages of a new file in place; after a loss of power in between it could
 *  never be opened again. If several processes do this at once, the file of one gets the name. */
async function ensureStoreFile(path: string): Promise<void> {
  if (existsSync(path)) return checkLength(path);
  const draft = `${path}.${process.pid}`;
  removeDraft(draft);
  const engine = new LmdbEngine({ path: draft, noSync: false });
  await engine.commit(({ sequence, ticks }) => ({
    sequence,
    ticks,
    writes: [],
    mayUseReserve: true,
  }));
  await engine.close();
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
  removeDraft(draft);
  syncFolder(dirname(path));
}

function removeDraft(draft: string): void {
  rmSync(draft, { force: true });
  rmSync(`${draft}-lock`, { force: true });
}
