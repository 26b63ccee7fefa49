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

/** One round looks at this many extents, the next one goes on from there. */
const extentsPerRoundMax = 256;
/** Every start of a process leaves an extent behind, full or not; more small ones than this are
 *  brought together. */
const smallExtentsMax = 16;

export interface ReclaimerParts extends CompactionParts {
  readonly files: ExtentFiles;
  readonly ids: IdAllocator;
  readonly pins: HorizonRegistry;
  readonly board: PinTracker;
  readonly clock: Clock;
  readonly extentBytes: number;
  /** Whether this process is the one that gives space back at the moment; always, if not said. */
  readonly isOnDuty?: (() => Promise<boolean>) | undefined;
}

/** A page of extents, as they were before those without a writer were sealed. */
interface SealedPage {
  readonly states: readonly ExtentState[];
  readonly isAnySealed: boolean;
}

/** Gives space back, a bounded round at a time. */
export class SpaceReclaimer {
  readonly #parts: ReclaimerParts;
  readonly #garbage: GarbageCollector;
  readonly #orphans: OrphanSweep;
  #after = 0n;
  /** Extents whose rest cannot be moved, because it is damaged: not tried again and again. */
  readonly #stuck = new Set<bigint>();

  constructor(parts: ReclaimerParts) {
    this.#parts = parts;
    const { store, files, handles } = parts;
    const removeExtent = async (extent: bigint): Promise<void> => {
      await handles.drop(extent);
      await files.remove(extent);
    };
    this.#garbage = new GarbageCollector({ store, removeExtent });
    this.#orphans = new OrphanSweep(parts);
  }

  /** Tells the others how far this process has come. */
  async publish(): Promise<void> {
    const { store, pins, board, ids } = this.#parts;
    const sequence = await store.snapshot(async (view) => {
      await ids.check(view);
      return view.sequence;
    });
    await pins.publish(board.horizon(sequence));
  }

  async round(): Promise<boolean> {
    await this.publish();
    await this.#parts.writer.seal({ all: false });
    const isOnDuty = (await this.#parts.isOnDuty?.()) ?? true;
    const isMore = isOnDuty && (await this.#giveBack());
    await this.#closeForgotten();
    return isMore;
  }

  async #giveBack(): Promise<boolean> {
    const collected = await this.#garbage.collect(() => this.#lowestPromise());
    const swept = await this.#sweep();
    const removed = await this.#orphans.round();
    return collected || swept || removed;
  }

  /** Returns whether anything was moved or forgotten, and so more may be. */
  async #sweep(): Promise<boolean> {
    const { store, ids, writer } = this.#parts;
    const { states, isAnySealed } = await this.sealAbandoned();
    const manySmall = states.filter((state) => this.#isSmall(state)).length > smallExtentsMax;
    const sparse: ExtentState[] = [];
    let changed = isAnySealed;
    for (const state of states) {
      const { extent, record, liveBytes } = state;
      if (record.sealedBytes === undefined) {
        changed = writer.retireIfSparse(extent, liveBytes) || changed;
      } else if (liveBytes === 0n) {
        const garbageId = ids.next();
        const forget = (tx: Transaction) => removeIfUnreferenced(tx, extent, garbageId);
        changed = (await store.transact(forget, { mayUseReserve: true })) || changed;
      } else if (this.#isSparse(state) || (manySmall && this.#isSmall(state))) sparse.push(state);
    }
    return (await this.#compactAll(sparse)) || changed;
  }

  /** On a full disk more is worth moving, and what has the least to move comes first. */
  #isSparse({ record, liveBytes }: ExtentState): boolean {
    const sealedBytes = BigInt(record.sealedBytes ?? 0);
    return this.#parts.writer.isFull
      ? 8n * liveBytes < 7n * sealedBytes
      : 2n * liveBytes < sealedBytes;
  }

  /** Copies take space before they free any: without it the rest waits for the next round, and what
   *  is wholly dead has gone before. */
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

  /** One unreadable extent must not keep the space of all others from coming back. */
  async #compact(extent: bigint): Promise<boolean> {
    if (this.#stuck.has(extent)) return false;
    try {
      const moved = await compactExtent(this.#parts, extent);
      if (!moved) this.#stuck.add(extent);
      return moved;
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof StoreBusy) throw error;
      this.#parts.log.error(
        { extent: String(extent), err: error },
        "an extent cannot be compacted",
      );
      this.#stuck.add(extent);
      return false;
    }
  }

  /** Looks at the next page of extents and seals what a dead process left. */
  async sealAbandoned(): Promise<SealedPage> {
    const { store, pins } = this.#parts;
    const list = (after: bigint): Promise<readonly ExtentState[]> =>
      store.snapshot((view) => listExtents(view, after, extentsPerRoundMax));
    const states = await list(this.#after);
    const alive = new Set((await pins.published()).keys());
    const isAnySealed = await sealAbandoned({ ...this.#parts, self: pins.self }, states, alive);
    const full = states.length === extentsPerRoundMax;
    this.#after = full ? (states.at(-1)?.extent ?? 0n) : 0n;
    return { states, isAnySealed };
  }

  /** An extent that another process removes would take up its space as long as it is open here. */
  async #closeForgotten(): Promise<void> {
    const { store, handles } = this.#parts;
    const forgotten = await store.snapshot(async (view) => {
      const gone: bigint[] = [];
      for (const extent of handles.open()) {
        if ((await view.get(extentKey(extent))) === undefined) gone.push(extent);
      }
      return gone;
    });
    for (const extent of forgotten) await handles.drop(extent);
  }

  async #lowestPromise(): Promise<number> {
    let lowest = Infinity;
    for (const sequence of (await this.#parts.pins.published()).values()) {
      lowest = Math.min(lowest, sequence);
    }
    return lowest;
  }
}
