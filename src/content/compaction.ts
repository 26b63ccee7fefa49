import type { ContentRef, Slice } from "./content-ref.ts";
import type { Table } from "../encoding/table.ts";
import type { Log } from "../base/world.ts";
import type { Key, Store, Transaction, View } from "../store/store.ts";
import type { ExtentWriter } from "./extent-writer.ts";
import { copyRanges, type CopyResult } from "./copy-ranges.ts";
import type { ExtentFileCache } from "./extent-file-cache.ts";
import { decodeNode, encodeNode } from "./node-codec.ts";
import { bytesByExtent } from "./slices.ts";
import {
  liveKey,
  nodeKey,
  nodeOwnerKey,
  ownerDigest,
  ownersOf,
  parseOwnerKey,
  recordOwnerKey,
} from "./tables.ts";

/** Owners (records and leaves) whose slices one round moves. */
const ownersPerRoundMax = 128;

/** A table whose records refer to content. */
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

/** An owner of an extent: a leaf of a content tree, or a record. */
type Owner = { readonly node: bigint } | { readonly record: Key };

/** Copies live slices of an extent to the current extent, and updates the records and leaves that
 *  refer to them. Returns whether any were moved. */
export async function compactExtent(parts: CompactionParts, extent: bigint): Promise<boolean> {
  const { store, writer } = parts;
  const found = await store.snapshot((view) => findOwners(parts, view, extent));
  if (found.slices.length === 0) return false;
  const copied = await copyRanges(parts, extent, found.slices);
  try {
    // All moves run at the same time, so that they share a flush. One after the other they were
    // slower than busy clients created garbage.
    const moves = found.owners.map((owner) =>
      store.transact((tx) => moveOwner(parts, tx, { owner, extent, copied }), {
        mayUseReserve: true,
      }),
    );
    // Waits for all moves, even if one fails: the copied bytes are released after this.
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
): Promise<{ owners: Owner[]; slices: Slice[] }> {
  const owners: Owner[] = [];
  const slices: Slice[] = [];
  for await (const entries of view.range({ ...ownersOf(extent), limit: ownersPerRoundMax })) {
    for (const { key, value } of entries) {
      const node = parseOwnerKey(key);
      const owner = node === undefined ? { record: new Uint8Array(value) } : { node };
      owners.push(owner);
      const owned = await slicesOfOwner(parts, view, owner);
      if (owned !== undefined)
        slices.push(...owned.slices.filter((slice) => isInExtent(slice, extent)));
    }
  }
  return { owners, slices };
}

function isInExtent({ source }: Slice, extent: bigint): boolean {
  return "extent" in source && source.extent === extent;
}

/** The slices of an owner, and a function that encodes it with other slices. */
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

/** The slices in a record. Encoding it with other slices changes nothing but the location of its
 *  bytes. */
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
  // A leaf that was replaced meanwhile still exists for readers, but has no entry in the owner
  // index.
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

/** Returns the key of the owner's index entry for an extent. */
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
