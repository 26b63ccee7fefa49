import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { Store } from "../store.ts";
import { setClockOffset } from "../time.ts";
import { TransactionalStore } from "../transactional-store.ts";
import { memoryEngine } from "./memory-engine.ts";

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** Learns of watchers that fail. */
  readonly log?: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  /** How long a view may be read from. */
  readonly snapshotAgeMax?: Ticks;
}

/** A store that lives and ends with this process: for tests, and for running without a disk. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const engine = memoryEngine();
  // This engine commits before it returns.
  void setClockOffset(engine, options.clock, true);
  return new TransactionalStore({ ...options, engine });
}
