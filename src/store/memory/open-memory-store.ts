import type { Ticks } from "../../core/ticks.ts";
import type { Clock } from "../../core/world.ts";
import type { Store } from "../store.ts";
import { newAnchor, storeTime } from "../time.ts";
import { TransactionalStore } from "../transactional-store.ts";
import { memoryEngine } from "./memory-engine.ts";

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** How long a view may be read from. */
  readonly snapshotAgeMax?: Ticks;
}

/** A store that lives and ends with this process: for tests, and for running without a disk. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const { clock } = options;
  const nextTicks = storeTime(clock, newAnchor(clock, 0n));
  return new TransactionalStore({ ...options, engine: memoryEngine(), nextTicks });
}
