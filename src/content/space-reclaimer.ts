import type { Clock } from "../base/world.ts";
import { StoreBusy, StoreUnavailable, type Transaction } from "../store/store.ts";
import { compactExtent, type CompactionParts } from "./compaction.ts";
import type { ExtentFiles } from "./extent-files.ts";
import {
  removeIfUnreferenced,
  listExtents,
  sealAbandoned,
  type ExtentState,
} from "./extent-table.ts";
import { GarbageCollector } from "./garbage.ts";
import type { IdAllocator } from "./ids.ts";
import type { PinTracker, HorizonRegistry } from "./pins.ts";
import { OrphanSweep } from "./orphans.ts";
import { extentKey } from "./tables.ts";

/** Extents examined per round; the next round continues after them. */
const extentsPerRoundMax = 256;
/** Every run of a process leaves at least one extent, even if it is small. If there are more small
 *  ones than this, they are compacted. */
const smallExtentsMax = 16;

export interface ReclaimerParts extends CompactionParts {
  readonly files: ExtentFiles;
  readonly ids: IdAllocator;
  readonly horizons: HorizonRegistry;
  readonly pinTracker: PinTracker;
  readonly clock: Clock;
  readonly extentBytes: number;
  /** Whether this process is the leader, which reclaims space; `undefined` means that it always
   *  does. */
  readonly isLeader?: (() => Promise<boolean>) | undefined;
}

/** A page of extents in their state before abandoned ones were sealed. */
interface SealedPage {
  readonly states: readonly ExtentState[];
  readonly isAnySealed: boolean;
}

/** Reclaims the space of content in bounded rounds: garbage collection, compaction, removal of
 *  orphans. */
export class SpaceReclaimer {
  readonly #parts: ReclaimerParts;
  readonly #garbage: GarbageCollector;
  readonly #orphans: OrphanSweep;
  #after = 0n;
  /** Extents whose compaction failed or moved nothing, for example because bytes are damaged. They
   *  are skipped until the next start. */
  readonly #notCompactable = new Set<bigint>();

  constructor(parts: ReclaimerParts) {
    this.#parts = parts;
    const { store, files, fileCache } = parts;
    const removeExtent = async (extent: bigint): Promise<void> => {
      await fileCache.drop(extent);
      await files.remove(extent);
    };
    this.#garbage = new GarbageCollector({ store, removeExtent });
    this.#orphans = new OrphanSweep(parts);
  }

  /** Publishes the read horizon of this process. */
  async publish(): Promise<void> {
    const { store, horizons, pinTracker, ids } = this.#parts;
    const sequence = await store.snapshot(async (view) => {
      await ids.check(view);
      return view.sequence;
    });
    await horizons.publish(pinTracker.horizon(sequence));
  }

  async round(): Promise<boolean> {
    await this.publish();
    await this.#parts.writer.seal({ all: false });
    const isLeader = (await this.#parts.isLeader?.()) ?? true;
    const isMore = isLeader && (await this.#reclaim());
    await this.#closeRemoved();
    return isMore;
  }

  async #reclaim(): Promise<boolean> {
    const collected = await this.#garbage.collect(() => this.#lowestHorizon());
    const swept = await this.#sweep();
    const removed = await this.#orphans.round();
    return collected || swept || removed;
  }

  /** Removes extents without live bytes and compacts sparse ones. Returns whether anything changed,
   *  so that more may follow. */
  async #sweep(): Promise<boolean> {
    const { store, ids, writer } = this.#parts;
    const { states, isAnySealed } = await this.sealAbandoned();
    const manySmall = states.filter((state) => this.#isSmall(state)).length > smallExtentsMax;
    const isKept = this.#keptExtents(states);
    const sparse: ExtentState[] = [];
    let changed = isAnySealed;
    for (const [index, state] of states.entries()) {
      const { extent, record, liveBytes } = state;
      if (record.sealedBytes === undefined) {
        changed = writer.retireIfSparse(extent, liveBytes) || changed;
      } else if (isKept[index] === true) continue;
      else if (liveBytes === 0n) {
        const garbageId = ids.next();
        const remove = (tx: Transaction) => removeIfUnreferenced(tx, extent, garbageId);
        changed = (await store.transact(remove, { mayUseReserve: true })) || changed;
      } else if (this.#isSparse(state) || (manySmall && this.#isSmall(state))) sparse.push(state);
    }
    return (await this.#compactAll(sparse)) || changed;
  }

  /** For each extent, whether a saved state contains it: then it is not removed, and compacting it
   *  would free nothing. A state that is saved after this check cannot refer to an extent that is
   *  removed afterwards: the removal is validated to find no reference. */
  #keptExtents(states: readonly ExtentState[]): readonly boolean[] {
    const { savedStates } = this.#parts.store;
    return savedStates?.contain(states.map(({ extent }) => extentKey(extent))) ?? [];
  }

  /** Whether to compact an extent: if less than half of its bytes are live, on a full disk less
   *  than 7/8. */
  #isSparse({ record, liveBytes }: ExtentState): boolean {
    const sealedBytes = BigInt(record.sealedBytes ?? 0);
    return this.#parts.writer.isFull
      ? 8n * liveBytes < 7n * sealedBytes
      : 2n * liveBytes < sealedBytes;
  }

  /** Compacts extents, those with the fewest live bytes first. Copies take space before they free
   *  any; on a full disk the rest waits for the next round, after extents without live bytes were
   *  removed. */
  async #compactAll(sparse: readonly ExtentState[]): Promise<boolean> {
    const ordered = sparse.toSorted((a, b) => Number(a.liveBytes - b.liveBytes));
    let changed = false;
    try {
      for (const { extent } of ordered) changed = (await this.#compact(extent)) || changed;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#parts.log.warn({ err: error }, "extent not compacted; retrying in the next round");
    }
    return changed;
  }

  #isSmall({ record }: ExtentState): boolean {
    const { sealedBytes } = record;
    return sealedBytes !== undefined && sealedBytes < this.#parts.extentBytes / 64;
  }

  /** Compacts one extent. An unreadable extent must not block the others. */
  async #compact(extent: bigint): Promise<boolean> {
    if (this.#notCompactable.has(extent)) return false;
    try {
      const moved = await compactExtent(this.#parts, extent);
      if (!moved) this.#notCompactable.add(extent);
      return moved;
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof StoreBusy) throw error;
      this.#parts.log.error(
        { extent: String(extent), err: error },
        "compacting extent failed; skipping it until the next start",
      );
      this.#notCompactable.add(extent);
      return false;
    }
  }

  /** Reads the next page of extents and seals those of ended processes. */
  async sealAbandoned(): Promise<SealedPage> {
    const { store, horizons } = this.#parts;
    const list = (after: bigint): Promise<readonly ExtentState[]> =>
      store.snapshot((view) => listExtents(view, after, extentsPerRoundMax));
    const states = await list(this.#after);
    const alive = new Set((await horizons.published()).keys());
    const isAnySealed = await sealAbandoned({ ...this.#parts, self: horizons.self }, states, alive);
    const full = states.length === extentsPerRoundMax;
    this.#after = full ? (states.at(-1)?.extent ?? 0n) : 0n;
    return { states, isAnySealed };
  }

  /** Closes extents that another process has removed: an open file keeps its disk space. */
  async #closeRemoved(): Promise<void> {
    const { store, fileCache } = this.#parts;
    const removed = await store.snapshot(async (view) => {
      const missing: bigint[] = [];
      for (const extent of fileCache.open()) {
        if ((await view.get(extentKey(extent))) === undefined) missing.push(extent);
      }
      return missing;
    });
    for (const extent of removed) await fileCache.drop(extent);
  }

  async #lowestHorizon(): Promise<number> {
    let lowest = Infinity;
    for (const sequence of (await this.#parts.horizons.published()).values()) {
      lowest = Math.min(lowest, sequence);
    }
    return lowest;
  }
}
