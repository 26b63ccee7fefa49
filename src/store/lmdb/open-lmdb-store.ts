import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Ticks } from "../../core/ticks.ts";
import type { Clock, Log } from "../../core/world.ts";
import type { Store } from "../store.ts";
import { setEpoch } from "../time.ts";
import { TransactionalStore } from "../transactional-store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { claimLocation } from "./location.ts";

export interface LmdbStoreOptions {
  /** A folder of this store's own; made if missing. */
  readonly location: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Never flushed, and empty after a boot. */
  readonly ephemeral?: boolean;
  /** How long a view may be read from; longer ones make the file grow. */
  readonly snapshotAgeMax?: Ticks;
}

const readersCheckMilliseconds = 30_000;

/**
 * The folder holds `format`, `open/` (`location.ts`) and the data: `store.mdb`, or for an ephemeral
 * store `ephemeral-<boot>.mdb`. A file that is never flushed may be torn by a loss of power, so
 * that of an earlier boot is removed without being opened.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { location, clock, log, ephemeral = false } = options;
  mkdirSync(location, { recursive: true });
  const claim = claimLocation({ location, clock });
  const name = ephemeral ? ephemeralName(clock) : "store.mdb";
  if (ephemeral) removeEarlierBoots(location, name);
  try {
    const engine = new LmdbEngine({ path: join(location, name), noSync: ephemeral, clock });
    await setEpoch(engine, clock, claim.isAlone);
    log.debug({ location, ephemeral, isAlone: claim.isAlone }, "store opened");
    const stopChecking = checkReadersRegularly(engine, clock);
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

function checkReadersRegularly(engine: LmdbEngine, clock: Clock): () => void {
  let cancel = clock.after(readersCheckMilliseconds, function check() {
    cancel = clock.after(readersCheckMilliseconds, check);
    engine.checkReaders();
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
