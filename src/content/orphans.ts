import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { Store, View } from "../store/store.ts";
import type { ExtentFiles } from "./extent-files.ts";
import { allGarbage, extentKey, garbageCodec } from "./tables.ts";

export interface OrphanParts {
  readonly store: Store;
  readonly files: ExtentFiles;
  readonly clock: Clock;
  readonly log: Log;
}

const pauseBetweenSweeps: Ticks = 3600n * ticksPerSecond;

/** Removes extents without a record from the storage. They are left over if an upload of a fenced
 *  server node completes after its extent was removed. The record of an extent is written before
 *  its first byte, and ids are never reused. So if an extent is listed and afterwards has no
 *  record, its record was removed. Unless it is among the garbage, where a reader may still need
 *  it, it is unreachable. */
export class OrphanSweep {
  readonly #parts: OrphanParts;
  #after = 0n;
  #pausedUntil: Ticks = 0n;

  constructor(parts: OrphanParts) {
    this.#parts = parts;
  }

  /** Checks one page of stored extents. Returns whether there are more. */
  async round(): Promise<boolean> {
    const { store, files, clock, log } = this.#parts;
    const now = clock.monotonic();
    if (files.list === undefined || now < this.#pausedUntil) return false;
    const found = await files.list(this.#after);
    const orphans = await store.snapshot((view) => withoutRecord(view, found));
    for (const extent of orphans) {
      log.warn({ extent: String(extent) }, "removing extent without a record");
      await files.remove(extent);
    }
    this.#after = found.at(-1) ?? 0n;
    if (found.length === 0) this.#pausedUntil = now + pauseBetweenSweeps;
    return found.length > 0;
  }
}

async function withoutRecord(view: View, extents: readonly bigint[]): Promise<readonly bigint[]> {
  const records = await Promise.all(extents.map(async (extent) => view.get(extentKey(extent))));
  const unknown = new Set(extents.filter((_, index) => records[index] === undefined));
  if (unknown.size === 0) return [];
  for await (const entries of view.range(allGarbage())) {
    for (const { value } of entries) {
      for (const extent of garbageCodec.decode(value).extents) unknown.delete(extent);
    }
  }
  return [...unknown];
}
