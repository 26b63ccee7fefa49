import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { RestoreRules } from "../saved-states/restore-rules.ts";
import type { Store } from "../store.ts";
import { setClockOffset } from "../time.ts";
import { TransactionalStore } from "../transactional-store.ts";
import { memoryEngine } from "./memory-engine.ts";

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** Logs exceptions of watchers. */
  readonly log?: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  /** Maximum age of a view. */
  readonly snapshotAgeMax?: Ticks;
  readonly restoreRules?: RestoreRules;
}

/** A store without persistence, for tests and for running without a disk. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const engine = memoryEngine();
  // The memory engine commits synchronously.
  void setClockOffset(engine, options.clock, true);
  return new TransactionalStore({ ...options, engine });
}
