import type { ContentRef, Slice } from "../content-ref.ts";
import type { Table } from "../../encoding/table.ts";
import type { Log } from "../../base/world.ts";
import {
  decodeCounter,
  type Key,
  type Store,
  type Transaction,
  type View,
} from "../../store/store.ts";
import type { ExtentWriter } from "../extents/extent-writer.ts";
import { copyRanges, type CopyResult, type CopyTarget } from "../tree/copy-ranges.ts";
import type { ExtentFileCache } from "../extents/extent-file-cache.ts";
import { decodeNode, encodeNode } from "../tree/node-codec.ts";
import { bytesByExtent } from "../tree/slices.ts";
import {
  extentCodec,
  extentKey,
  garbageCodec,
  garbageKey,
  liveKey,
  nodeKey,
  nodeOwnerKey,
  ownerDigest,
  ownersOf,
  parseOwnerKey,
  recordOwnerKey,
} from "../tables.ts";
import type { ExtentState } from "../extents/extent-table.ts";
import { storedEndOf, type ExtentFiles, type SpareSpace } from "../extents/extent-files.ts";
import type { IdAllocator } from "../extents/ids.ts";

/** Compaction: copies the live bytes of a sparse extent elsewhere, so that the extent can be
 *  deleted. `space-reclaimer.ts` selects the extents. The owner index names the records and content
 *  nodes whose slices (references to ranges of extents) must be changed. Each is changed in a
 *  transaction of its own, which skips slices that a client has replaced meanwhile. On a full disk,
 *  which has no space for copies, the end of an extent is cut off instead. */

/** Limit of the records and content nodes whose slices one round of an extent moves, so that other
 *  extents get their turn. */
const ownersPerRoundMax = 128;

/** A table of records that refer to content; `content` is the name of that field. */
export type ContentTable = Pick<Table<never, never>, "tag"> & {
  readonly codec: { encode(record: never): Uint8Array; decode(bytes: Uint8Array): unknown };
  readonly content?: string | undefined;
};

export interface CompactionParts {
  readonly store: Store;
  readonly writer: ExtentWriter;
  readonly fileCache: ExtentFileCache;
  readonly log: Log;
  readonly contentTables: readonly ContentTable[];
}

/** What refers to bytes of an extent: a record, or a leaf (lowest node) of a content tree. */
type Owner = { readonly node: bigint } | { readonly record: Key };

/** Copies live slices of a sparse extent to the extent that is written now, and updates the records
 *  and content nodes that refer to them. Returns whether any were moved. */
export async function compactExtent(parts: CompactionParts, extent: bigint): Promise<boolean> {
  const { store } = parts;
  const found = await store.snapshot((view) => findOwners(parts, view, extent));
  return moveSlices(parts, extent, found);
}

/** Records and content nodes that refer to bytes of an extent, and all their slices in it. */
interface OwnersFound {
  readonly owners: readonly Owner[];
  readonly slices: readonly Slice[];
}

/** Copies slices to `target` or the current extent, and updates their owners. Returns whether any
 *  moved. */
async function moveSlices(
  parts: CompactionParts,
  extent: bigint,
  found: OwnersFound,
  target?: CopyTarget,
): Promise<boolean> {
  const { store, writer } = parts;
  if (found.slices.length === 0) return false;
  const copied = await copyRanges(parts, extent, found.slices, target);
  try {
    // All moves run at the same time, so that they share a flush. One after the other, they freed
    // less than busy clients made free.
    const moves = found.owners.map((owner) =>
      store.transact((tx) => moveOwner(parts, tx, { owner, extent, copied }), {
        mayUseReserve: true,
      }),
    );
    // Waits for all moves, even if one fails: until then a move may still refer to the copies.
    const failed = (await Promise.allSettled(moves)).find(({ status }) => status === "rejected");
    if (failed !== undefined) await Promise.all(moves);
  } finally {
    for (const region of copied.regions) writer.releaseHold(region.extent);
  }
  return copied.ranges.length > 0;
}

async function findOwners(
  parts: CompactionParts,
  view: View,
  extent: bigint,
): Promise<OwnersFound> {
  const owners: Owner[] = [];
  const slices: Slice[] = [];
  for await (const found of listOwners(parts, view, extent, ownersPerRoundMax)) {
    owners.push(found.owner);
    slices.push(...(found.slices ?? []));
  }
  return { owners, slices };
}

/** The owners of an extent, each with its slices in the extent; undefined if the owner has none
 *  that this release can read. */
async function* listOwners(
  parts: CompactionParts,
  view: View,
  extent: bigint,
  limit?: number,
): AsyncGenerator<{ readonly owner: Owner; readonly slices: readonly Slice[] | undefined }> {
  const range = ownersOf(extent);
  for await (const entries of view.range(limit === undefined ? range : { ...range, limit })) {
    for (const { key, value } of entries) {
      const node = parseOwnerKey(key);
      const owner = node === undefined ? { record: new Uint8Array(value) } : { node };
      const owned = await slicesOfOwner(parts, view, owner);
      yield { owner, slices: owned?.slices.filter((slice) => isInExtent(slice, extent)) };
    }
  }
}

function isInExtent({ source }: Slice, extent: bigint): boolean {
  return "extent" in source && source.extent === extent;
}

/** The slices of a record or content node, its key, and how to encode it with other slices. */
interface OwnedSlices {
  readonly slices: readonly Slice[];
  readonly key: Key;
  encode(slices: readonly Slice[]): Uint8Array;
}

async function slicesOfOwner(
  parts: CompactionParts,
  view: View,
  owner: Owner,
): Promise<OwnedSlices | undefined> {
  const key = "node" in owner ? nodeKey(owner.node) : owner.record;
  const value = await view.get(key);
  if (value === undefined) return undefined;
  if ("record" in owner) return slicesOfRecord(parts, key, value);
  const node = decodeNode(value);
  if (node.kind !== "leaf") return undefined;
  return { key, slices: node.slices, encode: (slices) => encodeNode({ kind: "leaf", slices }) };
}

/** The slices in a record; undefined if it has none. `encode` changes only where its bytes are. */
function slicesOfRecord(
  parts: CompactionParts,
  key: Key,
  value: Uint8Array,
): OwnedSlices | undefined {
  const table = parts.contentTables.find(({ tag }) => tag === key[0]);
  if (table?.content === undefined) {
    parts.log.error(
      { tag: key[0] },
      "record of an unknown table refers to content; its extent is not compacted",
    );
    return undefined;
  }
  const field = table.content;
  const record = table.codec.decode(value) as Readonly<Record<string, unknown>>;
  const ref = record[field] as ContentRef | undefined;
  if (ref?.kind !== "slices") return undefined;
  const encode = (slices: readonly Slice[]): Uint8Array =>
    table.codec.encode({ ...record, [field]: { ...ref, slices } } as never);
  return { key, slices: ref.slices, encode };
}

async function moveOwner(
  parts: CompactionParts,
  tx: Transaction,
  { owner, extent, copied }: { owner: Owner; extent: bigint; copied: CopyResult },
): Promise<void> {
  const indexKey = indexKeyOf(owner);
  // The leaf was replaced since it was read: moving bytes of garbage would only cost space.
  if ((await tx.get(indexKey(extent))) === undefined) return;
  const owned = await slicesOfOwner(parts, tx, owner);
  if (owned === undefined) return;
  const moved = owned.slices.flatMap((slice) =>
    isInExtent(slice, extent) ? copied.move(slice) : [slice],
  );
  if (moved.every((slice, index) => slice === owned.slices[index])) return;
  tx.put(owned.key, owned.encode(moved));
  updateLiveBytes(tx, { owner, indexKey }, bytesByExtent(owned.slices), bytesByExtent(moved));
}

/** Returns a function that makes the key under which the owner index lists this owner. */
function indexKeyOf(owner: Owner): (extent: bigint) => Key {
  if ("node" in owner) return (extent) => nodeOwnerKey(extent, owner.node);
  const digest = ownerDigest(owner.record);
  return (extent) => recordOwnerKey(extent, digest);
}

function updateLiveBytes(
  tx: Transaction,
  { owner, indexKey }: { owner: Owner; indexKey: (extent: bigint) => Key },
  before: ReadonlyMap<bigint, number>,
  after: ReadonlyMap<bigint, number>,
): void {
  for (const [extent, bytes] of before) {
    const change = (after.get(extent) ?? 0) - bytes;
    if (change !== 0) tx.add(liveKey(extent), BigInt(change));
    if (!after.has(extent)) tx.delete(indexKey(extent));
  }
  const value = "record" in owner ? owner.record : new Uint8Array(0);
  for (const [extent, bytes] of after) {
    if (before.has(extent)) continue;
    tx.add(liveKey(extent), BigInt(bytes));
    tx.put(indexKey(extent), value);
  }
}

/* Reclaims space of an extent on a full disk, where nothing can be copied. Bytes can only be cut
   off at its end. If the last bytes are live, they are first moved to space that was allocated
   before the disk was full. */

interface ShrinkParts extends CompactionParts {
  readonly ids: IdAllocator;
  readonly files: ExtentFiles;
}

/** Fewer dead bytes at the end of an extent are not worth a transaction. */
const cutBytesMin = 64 * 1024;
/** Limit of the records and content nodes whose slices one step moves, which bounds its memory. */
const ownersPerStepMax = 1024;

/** Where the live bytes of an extent end; undefined if not all references to it are known. */
async function liveEnd(
  parts: ShrinkParts,
  view: View,
  extent: bigint,
): Promise<number | undefined> {
  let end = 0;
  let bytes = 0;
  for await (const { slices } of listOwners(parts, view, extent)) {
    if (slices === undefined) return undefined;
    for (const slice of slices) {
      end = Math.max(end, endInExtent(parts, slice));
      bytes += slice.length;
    }
  }
  // Cutting off live bytes would destroy them, so nothing is cut if index and counter differ.
  return BigInt(bytes) === decodeCounter(await view.get(liveKey(extent))) ? end : undefined;
}

function endInExtent({ files }: ShrinkParts, { source, length }: Slice): number {
  return "extent" in source ? storedEndOf(files, source.offset, length) : 0;
}

/** Cuts off the dead bytes at the end of a sealed extent once no reader can see them. Returns
 *  whether there are any. A reference that is added later can only be a copy of one that existed,
 *  so it ends before that point as well. */
export async function cutDeadEnd(
  parts: ShrinkParts,
  { extent, record }: ExtentState,
): Promise<boolean> {
  const { store, ids } = parts;
  const { sealedBytes = 0 } = record;
  const bytes = await store.snapshot((view) => liveEnd(parts, view, extent));
  if (bytes === undefined || bytes + cutBytesMin > sealedBytes) return false;
  // A saved state (to which the store can be restored) may refer to bytes that are dead now.
  if (store.savedStates?.contain([extentKey(extent)])[0] === true) return false;
  const garbageId = ids.next();
  const cut = async (tx: Transaction): Promise<boolean> => {
    const stored = await tx.get(extentKey(extent));
    const current = stored === undefined ? undefined : extentCodec.decode(stored);
    if (current?.sealedBytes === undefined || bytes >= current.sealedBytes) return false;
    tx.put(extentKey(extent), extentCodec.encode({ ...current, sealedBytes: bytes }));
    const garbage = { nodes: [], trees: [], extents: [], cuts: [{ extent, bytes }] };
    tx.put(garbageKey(tx.sequence, garbageId), garbageCodec.encode(garbage));
    return true;
  };
  return store.transact(cut, { mayUseReserve: true });
}

/** Moves the last live bytes of an extent to spare space (allocated before the disk was full),
 *  after which its end can be cut off. Returns whether any were moved. */
export async function moveLiveEnd(
  parts: ShrinkParts,
  extent: bigint,
  spare: SpareSpace,
): Promise<boolean> {
  const { store, writer } = parts;
  if (!spare.isAllocated()) return false;
  const found = await store.snapshot(async (view) => {
    const end = await liveEnd(parts, view, extent);
    return end === undefined ? undefined : ownersAtEnd(parts, view, { extent, end, spare });
  });
  if (found === undefined || found.slices.length === 0) return false;
  const reserve = await writer.createSpare();
  if (reserve === undefined) return false;
  return moveSlices(parts, extent, found, { from: found.from, reserve });
}

interface ExtentEnd {
  readonly extent: bigint;
  readonly end: number;
  readonly spare: SpareSpace;
}

/** What refers to the last live bytes of an extent (`from` on): as many as fit the spare space. */
async function ownersAtEnd(
  parts: ShrinkParts,
  view: View,
  { extent, end, spare }: ExtentEnd,
): Promise<OwnersFound & { readonly from: number }> {
  const from = Math.max(0, end - spare.bytes);
  const found: { readonly owner: Owner; readonly slices: readonly Slice[]; last: number }[] = [];
  for await (const { owner, slices: all = [] } of listOwners(parts, view, extent)) {
    const slices = all.filter((slice) => endInExtent(parts, slice) > from);
    const last = slices.reduce((latest, slice) => Math.max(latest, endInExtent(parts, slice)), 0);
    if (slices.length > 0) found.push({ owner, slices, last });
  }
  const ordered = found.toSorted((a, b) => b.last - a.last);
  const start = Math.max(from, ordered[ownersPerStepMax]?.last ?? 0);
  const chosen = ordered.filter(({ last }) => last > start);
  return {
    owners: chosen.map(({ owner }) => owner),
    slices: chosen
      .flatMap(({ slices }) => slices)
      .filter((slice) => endInExtent(parts, slice) > start),
    from: start,
  };
}
