import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { makePrivateFolder } from "../private-folder.ts";
import type { Key, Store } from "../store.ts";
import { setClockOffset } from "../time.ts";
import { TransactionalStore } from "../transactional-store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { awaitLocation } from "./await-location.ts";
import { removeSparseLockFile } from "./lock-file.ts";
import { ensureStoreFile } from "./new-store-file.ts";
import { knowsTooMuch, OverlayEngine } from "./overlay-engine.ts";
import { volatileRange } from "./overlay-view.ts";

export interface LmdbStoreOptions {
  /** A folder of this store's own; made if missing. */
  readonly location: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  /** Never flushed, and empty after a boot. */
  readonly ephemeral?: boolean;
  /** Keys that begin so need not outlive a boot: what changes them alone is not flushed. */
  readonly volatilePrefix?: Key;
  /** How long a view may be read from; longer ones make the file grow. */
  readonly snapshotAgeMax?: Ticks;
}

const readersCheckMilliseconds = 30_000;

/**
 * The folder holds `format`, `open/` (`location.ts`) and the data: `store.mdb`, or for an ephemeral
 * store and for volatile keys `ephemeral-<boot>.mdb`. A file that is never flushed may be torn by a
 * loss of power, so that of an earlier boot is removed without being opened.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { location, clock, log, ephemeral = false } = options;
  makePrivateFolder(location, log);
  const claim = await awaitLocation({ location, clock }, log);
  const name = ephemeral ? ephemeralName(clock) : "store.mdb";
  if (ephemeral) removeEarlierBoots(location, name);
  try {
    if (claim.isExclusive) removeSparseLockFile(join(location, name));
    if (!ephemeral) await ensureStoreFile(join(location, name));
    const durable = new LmdbEngine({ path: join(location, name), noSync: ephemeral, clock, log });
    const engine = await overlaid(options, durable, claim.isExclusive);
    await setClockOffset(engine, clock, claim.isExclusive);
    log.debug({ location, ephemeral, isAlone: claim.isExclusive }, "store opened");
    const stopChecking = checkReadersRegularly(engine, clock, log);
    const close = async (): Promise<void> => {
      stopChecking();
      await engine.close();
      claim.release();
    };
    const closing = { open: () => engine.open(), commit: engine.commit.bind(engine), close };
    return new TransactionalStore({ ...options, engine: closing });
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** With the file of volatile keys. One that knows of commits that the store has lost, as after its
 *  file was brought back from elsewhere, is of no use. */
async function overlaid(
  { location, clock, volatilePrefix }: LmdbStoreOptions,
  durable: LmdbEngine,
  isAlone: boolean,
): Promise<LmdbEngine | OverlayEngine> {
  if (volatilePrefix === undefined) return durable;
  const name = ephemeralName(clock);
  const path = join(location, name);
  removeEarlierBoots(location, name);
  if (isAlone) removeSparseLockFile(path);
  let passing = new LmdbEngine({ path, noSync: true });
  if (isAlone && knowsTooMuch(passing, durable)) {
    await passing.close();
    rmSync(path);
    passing = new LmdbEngine({ path, noSync: true });
  }
  const engine = new OverlayEngine(durable, passing, volatileRange(volatilePrefix));
  if (isAlone) await engine.reconcileAll();
  return engine;
}

/** What a timer throws would end the process; that slots stay taken until the next check does no
 *  harm to anyone. */
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
      log.warn({ err: error }, "readers that were killed could not be cleared away");
    }
  });
  return () => cancel();
}

function ephemeralName(clock: Clock): string {
  return `ephemeral-${clock.bootId.replaceAll(/[^A-Za-z0-9-]/g, "_")}.mdb`;
}

function removeEarlierBoots(location: string, currentName: string): void {
  for (const name of readdirSync(location)) {
    const isEarlier = name.startsWith("ephemeral-") && !name.startsWith(currentName);
    if (isEarlier) rmSync(join(location, name), { force: true });
  }
}
