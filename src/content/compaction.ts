import type { ContentRef, Slice } from "./content-ref.ts";
import type { Table } from "../encoding/table.ts";
import type { Log } from "../base/world.ts";
import type { Key, Store, Transaction, View } from "../store/store.ts";
import type { ExtentWriter } from "./extent-writer.ts";
import { copyRanges, type Copied } from "./copy-ranges.ts";
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

/** One round moves what belongs to this many owners. */
const ownersPerRoundMax = 128;

/** Any table whose records refer to contents. */
export type ContentTable = Pick<Table<never, never>, "tag"> & {
  readonly codec: { encode(record: never): Uint8Array; decode(bytes: Uint8Array): unknown };
  readonly content?: string | undefined;
};

export interface CompactionParts {
  readonly store: Store;
  readonly writer: ExtentWriter;
  readonly handles: ExtentFileCache;
  readonly log: Log;
  readonly contentTables: readonly ContentTable[];
}

/** Who refers to an extent: a leaf of a tree, or a record. */
type Owner = { readonly node: bigint } | { readonly record: Key };

/** Moves some of what is alive in an extent. Returns whether anything moved. */
export async function compactExtent(parts: CompactionParts, extent: bigint): Promise<boolean> {
  const { store, writer } = parts;
  const found = await store.snapshot((view) => findOwners(parts, view, extent));
  if (found.slices.length === 0) return false;
  const copied = await copyRanges(parts, extent, found.slices);
  try {
    // Together, so that they share a flush: one after the other they fell behind busy clients.
    const moves = found.owners.map((owner) =>
      store.transact((tx) => moveOwner(parts, tx, { owner, extent, copied }), {
        mayUseReserve: true,
      }),
    );
    // None may still be under way when the copies are let go.
    const failed = (await Promise.allSettled(moves)).find(({ status }) => status === "rejected");
    if (failed !== undefined) await Promise.all(moves);
  } finally {
    for (const region of copied.regions) writer.releaseHold(region.extent);
  }
  return copied.stretches.length > 0;
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
      const held = await heldBy(parts, view, owner);
      if (held !== undefined) slices.push(...held.slices.filter((slice) => liesIn(slice, extent)));
    }
  }
  return { owners, slices };
}

function liesIn({ source }: Slice, extent: bigint): boolean {
  return "extent" in source && source.extent === extent;
}

/** The slices an owner holds, and how to write it with others in their place. */
interface Held {
  readonly slices: readonly Slice[];
  readonly key: Key;
  encode(slices: readonly Slice[]): Uint8Array;
}

async function heldBy(parts: CompactionParts, view: View, owner: Owner): Promise<Held | undefined> {
  const key = "node" in owner ? nodeKey(owner.node) : owner.record;
  const value = await view.get(key);
  if (value === undefined) return undefined;
  if ("record" in owner) return heldByRecord(parts, key, value);
  const node = decodeNode(value);
  if (node.kind !== "leaf") return undefined;
  return { key, slices: node.slices, encode: (slices) => encodeNode({ kind: "leaf", slices }) };
}

/** Nothing of the record changes but where its bytes lie. */
function heldByRecord(parts: CompactionParts, key: Key, value: Uint8Array): Held | undefined {
  const table = parts.contentTables.find(({ tag }) => tag === key[0]);
  if (table?.content === undefined) {
    parts.log.error({ tag: key[0] }, "a record of an unknown table refers to contents");
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
  { owner, extent, copied }: { owner: Owner; extent: bigint; copied: Copied },
): Promise<void> {
  const indexKey = indexKeyOf(owner);
  // A leaf that was replaced meanwhile stays for its readers, but owns nothing any more.
  if ((await tx.get(indexKey(extent))) === undefined) return;
  const held = await heldBy(parts, tx, owner);
  if (held === undefined) return;
  const moved = held.slices.flatMap((slice) =>
    liesIn(slice, extent) ? copied.move(slice) : [slice],
  );
  if (moved.every((slice, index) => slice === held.slices[index])) return;
  tx.put(held.key, held.encode(moved));
  updateLiveBytes(tx, { owner, indexKey }, bytesByExtent(held.slices), bytesByExtent(moved));
}

/** Where the index says that the owner refers to an extent. */
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
