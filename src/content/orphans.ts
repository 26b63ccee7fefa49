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

/**
 * Removes what lies outside and the store knows nothing of: a node that was given up may have had
 * an upload under way, which arrives after its extent was removed. An extent is recorded before its
 * first byte is written and its id is never used again, so whatever is found and then has no record
 * has lost it; unless it is among the garbage, where a reader may still see it, nobody can.
 */
export class OrphanSweep {
  readonly #parts: OrphanParts;
  #after = 0n;
  #restsUntil: Ticks = 0n;

  constructor(parts: OrphanParts) {
    this.#parts = parts;
  }

  /** Looks at a page of what there is. Returns whether there is more to look at. */
  async round(): Promise<boolean> {
    const { store, files, clock, log } = this.#parts;
    const now = clock.monotonic();
    if (files.list === undefined || now < this.#restsUntil) return false;
    const found = await files.list(this.#after);
    const orphans = await store.snapshot((view) => withoutRecord(view, found));
    for (const extent of orphans) {
      log.warn({ extent: String(extent) }, "an extent nobody knows of is removed");
      await files.remove(extent);
    }
    this.#after = found.at(-1) ?? 0n;
    if (found.length === 0) this.#restsUntil = now + pauseBetweenSweeps;
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
