import {
  isTemporary,
  StoreUnavailable,
  type Key,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { compactExtent, cutDeadEnd, moveLiveEnd, type CompactionParts } from "./compaction.ts";
import {
  listExtents,
  removeIfUnreferenced,
  sealAbandoned,
  type ExtentState,
} from "../extents/extent-table.ts";
import type { ExtentFileCache } from "../extents/extent-file-cache.ts";
import type { IdAllocator } from "../extents/ids.ts";
import { isSparse } from "../extents/extent-writer.ts";
import type { PinTracker } from "./pins.ts";
import {
  allGarbage,
  countKey,
  extentKey,
  garbageCodec,
  liveKey,
  nodeKey,
  nodeOwnerKey,
  type GarbageRecord,
} from "../tables.ts";
import { referencesTo, setReferences } from "../tree/node-references.ts";
import { loadNode } from "../tree/node.ts";
import { bytesByExtent } from "../tree/slices.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { ContentOptions } from "../open-content.ts";

/** Frees the space of deleted and replaced content: deletes garbage, compacts sparse extents,
 *  removes files without a record. `ContentStore.reclaim` runs a bounded round of it in the
 *  background; of several processes on one store only the leader does so. */

/** Limit of the garbage entries (lists of replaced nodes and extents) that one round reads. */
const entriesPerRoundMax = 4096;
/** Limit of the content nodes that one transaction deletes, because a tree may have thousands. */
const nodesPerTransactionMax = 512;
const transactionsPerRoundMax = 64;
/** Deleting must work on a full disk, because it frees space. */
const freeing = { mayUseReserve: true };

interface GarbageParts extends Pick<ContentOptions, "store" | "files"> {
  readonly fileCache: ExtentFileCache;
}

/** Deletes garbage (replaced nodes, trees and extents) that no view can reach any more. An entry
 *  was committed at or before the state in which it is first seen, so it may be deleted once every
 *  process reads only later states: once every read horizon has reached that state. */
class GarbageCollector {
  readonly #parts: GarbageParts;
  /** Sequence of the state in which an entry was first seen, by its key in hexadecimal. */
  #firstSeen = new Map<string, number>();

  constructor(parts: GarbageParts) {
    this.#parts = parts;
  }

  /** `horizon` returns the lowest read horizon of all processes. Returns whether anything was
   *  deleted, so that more may follow. */
  async collect(horizon: () => Promise<number>): Promise<boolean> {
    const entries = await this.#readEntries();
    const lowest = await horizon();
    const unreachable = entries.filter(
      ({ name }) => (this.#firstSeen.get(name) ?? Infinity) <= lowest,
    );
    // Files are removed before their entries: after a crash in between they are removed once more.
    for (const { garbage } of unreachable) await this.#removeBytes(garbage);
    let remaining = unreachable.map(({ key }) => key);
    for (let count = 0; count < transactionsPerRoundMax && remaining.length > 0; count += 1) {
      const keys = remaining;
      remaining = await this.#parts.store.transact((tx) => freeEntries(tx, keys), freeing);
    }
    return unreachable.length > 0;
  }

  /** Whether there is garbage that a reader may still see. */
  get isPending(): boolean {
    return this.#firstSeen.size > 0;
  }

  async #removeBytes({ extents, cuts = [] }: GarbageRecord): Promise<void> {
    const { files, fileCache } = this.#parts;
    for (const extent of extents) {
      await fileCache.drop(extent);
      await files.remove(extent);
    }
    for (const { extent, bytes } of cuts) {
      await files.truncate?.(extent, bytes);
    }
    // The spare space for compaction is allocated again before a body can get the freed space.
    if (extents.length + cuts.length > 0) files.spare?.fill();
  }

  async #readEntries(): Promise<readonly GarbageEntry[]> {
    const entries: GarbageEntry[] = [];
    const firstSeen = new Map<string, number>();
    await this.#parts.store.snapshot(async (view) => {
      for await (const page of view.range({ ...allGarbage(), limit: entriesPerRoundMax })) {
        for (const { key, value } of page) {
          const name = Buffer.from(key).toString("hex");
          entries.push({ key: new Uint8Array(key), name, garbage: garbageCodec.decode(value) });
          firstSeen.set(name, this.#firstSeen.get(name) ?? view.sequence);
        }
      }
    });
    this.#firstSeen = firstSeen;
    return entries;
  }
}

/** A stored garbage entry; `name` is its key in hexadecimal. */
interface GarbageEntry {
  readonly key: Key;
  readonly name: string;
  readonly garbage: GarbageRecord;
}

/** Deletes the nodes of garbage entries, at most `nodesPerTransactionMax`. Returns the keys of the
 *  entries that remain for the next transaction. */
async function freeEntries(tx: Transaction, keys: readonly Key[]): Promise<Key[]> {
  let budget = nodesPerTransactionMax;
  for (const [index, key] of keys.entries()) {
    if (budget <= 0) return keys.slice(index);
    const value = await tx.get(key);
    if (value === undefined) continue;
    const { left, freed } = await freeEntry(tx, garbageCodec.decode(value), budget);
    budget -= Math.max(1, freed);
    if (left === undefined) tx.delete(key);
    else {
      tx.put(key, garbageCodec.encode(left));
      return keys.slice(index);
    }
  }
  return [];
}

async function freeEntry(
  tx: Transaction,
  garbage: GarbageRecord,
  nodesMax: number,
): Promise<{ left: GarbageRecord | undefined; freed: number }> {
  const nodes = [...garbage.nodes];
  const trees = [...garbage.trees];
  let freed = 0;
  for (; freed < nodesMax && nodes.length > 0; freed += 1) {
    tx.delete(nodeKey(nodes.pop() as bigint));
  }
  for (; freed < nodesMax && trees.length > 0; freed += 1) {
    for (const child of await releaseNode(tx, trees.pop() as bigint)) trees.push(child);
  }
  const done = nodes.length + trees.length === 0;
  return { left: done ? undefined : { nodes, trees, extents: [] }, freed };
}

/** Removes one reference to a content node. If it was the last, deletes the node and returns its
 *  children, whose references must be removed as well. */
async function releaseNode(tx: Transaction, id: bigint): Promise<readonly bigint[]> {
  const references = await referencesTo(tx, id);
  if (references > 1) {
    setReferences(tx, id, references - 1);
    return [];
  }
  const node = await loadNode(tx, id);
  tx.delete(nodeKey(id));
  tx.delete(countKey(id));
  if (node.kind === "inner") return node.children.map((child) => child.id);
  for (const [extent, bytes] of bytesByExtent(node.slices)) {
    tx.add(liveKey(extent), BigInt(-bytes));
    tx.delete(nodeOwnerKey(extent, id));
  }
  return [];
}

type OrphanParts = Pick<ContentOptions, "store" | "files" | "clock" | "log">;

/** Extents without a record are rare, and each search lists the whole bucket. */
const pauseBetweenSweeps: Ticks = 3600n * ticksPerSecond;

/** Removes extents without a record from the storage. They are left over if an upload of a fenced
 *  server node completes after its extent was removed. The record of an extent is written before
 *  its first byte, and ids are never reused. So if an extent is listed and afterwards has no
 *  record, its record was removed. Unless it is among the garbage, where a reader may still need
 *  it, it is unreachable. */
class OrphanSweep {
  readonly #parts: OrphanParts;
  #after = 0n;
  #pausedUntil: Ticks = 0n;

  constructor(parts: OrphanParts) {
    this.#parts = parts;
  }

  /** Checks one page of the extents in the storage, to stay short. Returns whether there are
   *  more. */
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

/** Limit of the extents examined per round; the next round continues after them. */
const extentsPerRoundMax = 256;
/** Small extents are compacted if there are more than this: each start of a process adds at least
 *  one, and each costs a file. */
const smallExtentsMax = 16;
/** Pause between rounds while freed space waits for readers on a full disk: writes wait for it. */
const fullDiskPauseMilliseconds = 250;
/** Limit of the sparse extents that are observed at a time (`#isSettled`). Others are compacted at
 *  once: if they replaced observed ones, no observation of many would ever end. */
const observationsMax = 1024;

/** Live bytes of a sparse extent when `#isSettled` first saw it; `settled`: it may be compacted. */
type Observation = { readonly liveBytes: bigint; readonly at: Ticks } | "settled";

interface ReclaimerParts
  extends
    CompactionParts,
    Pick<ContentOptions, "files" | "horizons" | "clock" | "observedTicks" | "isLeader"> {
  readonly ids: IdAllocator;
  readonly pinTracker: PinTracker;
  readonly extentBytes: number;
}

/** A page of extents, read before those of ended processes among them were sealed. */
interface SealedPage {
  readonly states: readonly ExtentState[];
  readonly isAnySealed: boolean;
}

export class SpaceReclaimer {
  readonly #parts: ReclaimerParts;
  readonly #garbage: GarbageCollector;
  readonly #orphans: OrphanSweep;
  #after = 0n;
  /** Extents whose compaction failed or moved nothing, for example because bytes are damaged. They
   *  are skipped until the next start. */
  readonly #notCompactable = new Set<bigint>();
  readonly #observations = new Map<bigint, Observation>();

  constructor(parts: ReclaimerParts) {
    this.#parts = parts;
    this.#garbage = new GarbageCollector(parts);
    this.#orphans = new OrphanSweep(parts);
  }

  /** Publishes the read horizon of this process, so that the leader may delete older garbage. */
  async publish(isDiskFull = false): Promise<void> {
    const { store, horizons, pinTracker, ids } = this.#parts;
    const sequence = await store.snapshot(async (view) => {
      await ids.check(view);
      return view.sequence;
    });
    await horizons.publish(pinTracker.horizon(sequence, isDiskFull));
  }

  /** Returns whether more may follow, or in how many milliseconds. */
  async round(): Promise<boolean | number> {
    const { writer, files } = this.#parts;
    const isFull = writer.isFull || (await files.spare?.isDiskFull()) === true;
    await this.publish(isFull);
    await writer.seal({ all: false });
    const isLeader = (await this.#parts.isLeader?.()) ?? true;
    // Another leader removes extents without this process noticing.
    if (!isLeader) this.#observations.clear();
    const isMore = isLeader && (await this.#reclaim(isFull));
    await this.#closeRemoved();
    if (isMore || !isFull) return isMore;
    // The leader frees what no process can read: it waits for the horizons of all.
    return !isLeader || this.#garbage.isPending ? fullDiskPauseMilliseconds : false;
  }

  async #reclaim(isFull: boolean): Promise<boolean> {
    const collected = await this.#garbage.collect(() => this.#lowestHorizon());
    const swept = await this.#sweep(isFull);
    const removed = await this.#orphans.round();
    return collected || swept || removed;
  }

  /** Removes extents without live bytes and compacts sparse ones. Returns whether anything changed,
   *  so that more may follow. */
  async #sweep(isFull: boolean): Promise<boolean> {
    const { store, ids, writer, files } = this.#parts;
    const { states, isAnySealed } = await this.sealAbandoned();
    if (!isFull && states.length > 0) files.spare?.fill();
    const manySmall = states.filter((state) => this.#isSmall(state)).length > smallExtentsMax;
    const isKept = this.#keptExtents(states);
    const sparse: ExtentState[] = [];
    let changed = isAnySealed;
    for (const [index, state] of states.entries()) {
      const { extent, record, liveBytes } = state;
      if (record.sealedBytes === undefined) {
        changed = writer.retireIfSparse(extent, liveBytes, isFull) || changed;
      } else if (isKept[index] === true) continue;
      else if (liveBytes === 0n) {
        this.#observations.delete(extent);
        const garbageId = ids.next();
        const remove = (tx: Transaction) => removeIfUnreferenced(tx, extent, garbageId);
        changed = (await store.transact(remove, { mayUseReserve: true })) || changed;
      } else if (
        isSparse({ bytes: record.sealedBytes, liveBytes }, isFull) ||
        (manySmall && this.#isSmall(state))
      ) {
        if (isFull || this.#isSettled(state)) sparse.push(state);
      }
    }
    return (await this.#compactAll(sparse, isFull)) || changed;
  }

  /** For each extent, whether a saved state contains it: then it is not removed, and compacting it
   *  would free nothing. A state that is saved after this check cannot refer to an extent that is
   *  removed afterwards: the removal is validated to find no reference. */
  #keptExtents(states: readonly ExtentState[]): readonly boolean[] {
    const { savedStates } = this.#parts.store;
    return savedStates?.contain(states.map(({ extent }) => extentKey(extent))) ?? [];
  }

  /** Whether an extent still has most of the live bytes that it had some seconds ago. Content that
   *  is being replaced leaves its extents empty by itself: copying it would take disk and CPU time
   *  from the clients that replace it. */
  #isSettled({ extent, liveBytes }: ExtentState): boolean {
    const { clock, observedTicks = 4n * ticksPerSecond } = this.#parts;
    const now = clock.monotonic();
    const observed = this.#observations.get(extent);
    const isSurplus = observed === undefined && this.#observations.size >= observationsMax;
    if (observed === "settled" || isSurplus) return true;
    const seen = observed ?? { liveBytes, at: now };
    const isObserved = now - seen.at >= observedTicks;
    const isSettled = isObserved && 8n * liveBytes > 7n * seen.liveBytes;
    const restarted = isObserved ? { liveBytes, at: now } : seen;
    this.#observations.set(extent, isSettled ? "settled" : restarted);
    return isSettled;
  }

  /** Compacts extents, those with the fewest live bytes first. Copies take space before they free
   *  any: on a full disk the dead ends of extents are cut off instead. */
  async #compactAll(sparse: readonly ExtentState[], isFull: boolean): Promise<boolean> {
    const ordered = sparse.toSorted((a, b) => Number(a.liveBytes - b.liveBytes));
    try {
      if (isFull && (await this.#shrink(ordered))) return true;
      // Copies need the space that is freed when no reader can see it any more.
      if (isFull && this.#garbage.isPending) return false;
      let changed = false;
      for (const { extent } of ordered) changed = (await this.#compact(extent)) || changed;
      return changed;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#parts.log.warn({ err: error }, "extent not compacted; retrying in the next round");
      return false;
    }
  }

  /** Cuts off dead ends, and moves the last live bytes of one extent, which lets its dead end grow.
   *  Returns whether there were any. */
  async #shrink(ordered: readonly ExtentState[]): Promise<boolean> {
    let changed = false;
    for (const state of ordered) changed = (await this.#cut(state)) || changed;
    return (await this.#moveEnd(ordered)) || changed;
  }

  async #cut(state: ExtentState): Promise<boolean> {
    return this.#parts.files.truncate !== undefined && cutDeadEnd(this.#parts, state);
  }

  /** Moves the last live bytes of the sparsest extent to spare space, so that it can be cut. */
  async #moveEnd(ordered: readonly ExtentState[]): Promise<boolean> {
    const { spare } = this.#parts.files;
    if (spare?.isAllocated() !== true) return false;
    const first = ordered.find(({ extent }) => !this.#notCompactable.has(extent));
    if (first === undefined) return false;
    const move = (extent: bigint): Promise<boolean> => moveLiveEnd(this.#parts, extent, spare);
    return this.#skipUnmovable(first.extent, move);
  }

  #isSmall({ record }: ExtentState): boolean {
    const { sealedBytes } = record;
    return sealedBytes !== undefined && sealedBytes < this.#parts.extentBytes / 64;
  }

  async #compact(extent: bigint): Promise<boolean> {
    if (this.#notCompactable.has(extent)) return false;
    return this.#skipUnmovable(extent, (each) => compactExtent(this.#parts, each));
  }

  /** Moves bytes of one extent. Logs a failure instead of throwing it, because one unreadable
   *  extent must not block the others. */
  async #skipUnmovable(
    extent: bigint,
    move: (extent: bigint) => Promise<boolean>,
  ): Promise<boolean> {
    try {
      const moved = await move(extent);
      if (!moved) this.#notCompactable.add(extent);
      return moved;
    } catch (error) {
      if (isTemporary(error)) throw error;
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
