import { newLoopShare, type LoopShare } from "../base/loop-share.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { Body, ContentReader, ContentStore, ReceiveOptions } from "./content.ts";
import {
  inlineWholeBytesMax,
  type ContentPlan,
  type ContentRef,
  type ReceivedBody,
  type Slice,
} from "./content-ref.ts";
import type { Span } from "../base/span.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { ScopeKeys } from "../store/encryption/scope-keys.ts";
import type { Key, Store, Transaction, View } from "../store/store.ts";
import { ReadBufferPool, contentReader } from "./reader.ts";
import type { ContentTable } from "./reclaim/compaction.ts";
import type { ExtentFiles } from "./extents/extent-files.ts";
import { ExtentWriter } from "./extents/extent-writer.ts";
import { ExtentFileCache } from "./extents/extent-file-cache.ts";
import { IdAllocator } from "./extents/ids.ts";
import type { Md5Source } from "./body/md5-thread.ts";
import { PinTracker, type HorizonRegistry } from "./reclaim/pins.ts";
import { receive } from "./body/receive.ts";
import { SpaceReclaimer } from "./reclaim/space-reclaimer.ts";
import { applyPlan } from "./tree/apply-plan.ts";
import { loadNode, walk, type NodeSource } from "./tree/node.ts";
import { storeIdCodec, storeIdKey } from "./tables.ts";

/** Opens the content storage of a server: `data/data-stores.ts` gives it the store, in which the
 *  content nodes are, and the files of extents. It connects writing (`body/`, `extents/`), reading
 *  (`reader.ts`), plans (`tree/`) and the freeing of space (`reclaim/`). */

export interface ContentOptions {
  readonly store: Store;
  /** Storage for the bytes: a folder, memory or a bucket. */
  readonly files: ExtentFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly horizons: HorizonRegistry;
  /** All tables whose records refer to content: compaction changes the references. */
  readonly contentTables: readonly ContentTable[];
  readonly extentBytes?: number;
  readonly viewAgeMax?: Ticks;
  /** How long a sparse extent must stay unchanged before it is compacted; default 4 s. */
  readonly observedTicks?: Ticks;
  /** Whether this process is the leader, which reclaims space; `undefined` means that it always
   *  does. */
  readonly isLeader?: (() => Promise<boolean>) | undefined;
  /** Computes the MD5 of large bodies; undefined: the event loop does. */
  readonly md5Thread?: Md5Source | undefined;
  /** The keys of encryption scopes; undefined if the storage is not encrypted. */
  readonly scopeKeys?: ScopeKeys | undefined;
}

export async function openContentStore(options: ContentOptions): Promise<ContentStore> {
  const { store, files, clock, horizons, extentBytes = options.files.extentBytes } = options;
  const ids = await IdAllocator.open(store);
  const writer = new ExtentWriter({ store, files, ids, writer: horizons.self, extentBytes });
  const fileCache = new ExtentFileCache(files);
  const pinTracker = new PinTracker(clock, options.viewAgeMax);
  const reclaimer = new SpaceReclaimer({
    ...options,
    ids,
    writer,
    fileCache,
    pinTracker,
    extentBytes,
  });
  await reclaimer.publish();
  await reclaimer.sealAbandoned();
  const storage = {
    isRemote: files.check !== undefined,
    inlineBytesMax: files.inlineBytesMax ?? 0,
  };
  const { md5Thread, scopeKeys } = options;
  const loop = newLoopShare(clock);
  const parts = { store, ids, writer, fileCache, pinTracker, horizons, reclaimer, md5Thread, loop };
  return new StoredContent({ ...parts, ...storage, scopeKeys });
}

interface ContentParts {
  readonly store: Store;
  readonly ids: IdAllocator;
  readonly writer: ExtentWriter;
  readonly fileCache: ExtentFileCache;
  readonly pinTracker: PinTracker;
  readonly horizons: HorizonRegistry;
  readonly reclaimer: SpaceReclaimer;
  readonly md5Thread: Md5Source | undefined;
  readonly loop: LoopShare;
  readonly scopeKeys: ScopeKeys | undefined;
  readonly isRemote: boolean;
  readonly inlineBytesMax: number;
}

class StoredContent implements ContentStore {
  readonly #parts: ContentParts;
  readonly #bufferPool = new ReadBufferPool();
  /** Loads content nodes for readers, whose pin keeps the nodes from being deleted. Each is read on
   *  a short store snapshot, because a view would expire during a long download. */
  readonly #pinnedNodes: NodeSource;
  readonly #assertPinned: () => Promise<void>;
  #reclaiming: Promise<boolean | number> | undefined;

  constructor(parts: ContentParts) {
    this.#parts = parts;
    this.#assertPinned = () => parts.horizons.assertNotFenced();
    this.#pinnedNodes = (id) => parts.store.snapshot((view) => loadNode(view, id));
  }

  get scopeKeys(): ScopeKeys | undefined {
    return this.#parts.scopeKeys;
  }

  get loop(): LoopShare {
    return this.#parts.loop;
  }

  receive(body: Body, options: ReceiveOptions): Promise<ReceivedBody> {
    const { writer, inlineBytesMax, md5Thread } = this.#parts;
    // The limit of the storage (`ExtentFiles.inlineBytesMax`) applies only to whole bodies. Blocks
    // and ranges are many and should not fill the store.
    const isWhole = options.inlineBytesMax >= inlineWholeBytesMax;
    const isWithin = !isWhole || options.inlineBytesMax >= inlineBytesMax;
    const limited = isWithin ? options : { ...options, inlineBytesMax };
    return receive(writer, body, limited, md5Thread);
  }

  discard(received: ReceivedBody): void {
    for (const { source } of received.pieces) {
      if ("extent" in source) this.#parts.writer.releaseHold(source.extent);
    }
  }

  applyPlan(
    tx: Transaction,
    owner: Key,
    before: ContentRef | undefined,
    plan: ContentPlan | undefined,
  ): Awaitable<ContentRef | undefined> {
    const { ids } = this.#parts;
    if (ids.isRolledBack) ids.assertNotRolledBack();
    return applyPlan(tx, this.#parts, { owner, before, plan });
  }

  slices(
    view: View,
    ref: ContentRef,
    from: number,
    length: number,
  ): AsyncIterable<readonly Slice[]> {
    return walk((id) => loadNode(view, id), ref, { from, to: from + length });
  }

  open(view: View, ref: ContentRef, key?: Uint8Array, span?: Span): ContentReader {
    this.#parts.ids.assertNotRolledBack();
    const unpin =
      ref.kind === "inline" ? () => undefined : this.#parts.pinTracker.pin(view.sequence);
    const { fileCache, isRemote, scopeKeys } = this.#parts;
    const bufferPool = this.#bufferPool;
    const nodes = this.#pinnedNodes;
    const assertPinned = this.#assertPinned;
    const parts = { fileCache, bufferPool, nodes, unpin, assertPinned, key };
    return contentReader(ref, { ...parts, scopeKeys, isRemote, span });
  }

  pin(view: View): () => void {
    return this.#parts.pinTracker.pin(view.sequence);
  }

  /** Runs a round of garbage collection and compaction. A call during a round returns that round,
   *  because two would free the same extents. */
  reclaim(): Promise<boolean | number> {
    this.#reclaiming ??= this.#parts.reclaimer.round().finally(() => {
      this.#reclaiming = undefined;
    });
    return this.#reclaiming;
  }

  async close(): Promise<void> {
    await this.#reclaiming?.catch(() => undefined);
    await this.#parts.md5Thread?.close();
    await this.#parts.writer.close();
    await this.#parts.fileCache.close();
  }
}

/** Marks the extent storage as that of this store; throws if it belongs to another one. Extents of
 *  two stores have the same names, so they must not share a storage. */
export async function claimFiles(
  store: Store,
  files: ExtentFiles,
  newId: () => string,
): Promise<void> {
  if (files.claim === undefined) return;
  const id = await store.transact(async (tx) => {
    const stored = await tx.get(storeIdKey());
    if (stored !== undefined) return storeIdCodec.decode(stored).id;
    const made = newId();
    tx.put(storeIdKey(), storeIdCodec.encode({ id: made }));
    return made;
  });
  await files.claim(id);
}
