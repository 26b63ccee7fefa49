import { decodeCounter, type Bounds } from "../../store/store.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import type { ExtentFiles } from "./extent-files.ts";
import type { ExtentWriter } from "./extent-writer.ts";
import {
  extentCodec,
  extentKey,
  extentsAfter,
  garbageCodec,
  garbageKey,
  liveKey,
  parseExtentKey,
  type ExtentRecord,
} from "../tables.ts";

/** The records of extents in the key space: which extents (files that many contents share) exist,
 *  which process writes each, and how many of their bytes are live (referred to).
 *  `content/reclaim/space-reclaimer.ts` frees space by them; checks, backups and the admin API list
 *  them. */

/** An extent with its record; `liveBytes` are those that records and content nodes refer to. */
export interface ExtentState {
  readonly extent: bigint;
  readonly record: ExtentRecord;
  readonly liveBytes: bigint;
}

/** Up to `limit` extents after the given one, in the order of their ids. */
export async function listExtents(
  view: View,
  after: bigint,
  limit: number,
): Promise<readonly ExtentState[]> {
  const bounds = { ...extentsAfter(after), limit: 2 * limit };
  const { records, live } = await readExtents(view, bounds);
  return [...records]
    .slice(0, limit)
    .map(([extent, record]) => ({ extent, record, liveBytes: live.get(extent) ?? 0n }));
}

/** The records and the live bytes of extents, in two maps by id: each has a key of its own. */
export async function readExtents(view: View, bounds: Bounds) {
  const records = new Map<bigint, ExtentRecord>();
  const live = new Map<bigint, bigint>();
  for await (const entries of view.range(bounds)) {
    for (const { key, value } of entries) {
      const { extent, isRecord } = parseExtentKey(key);
      if (isRecord) records.set(extent, extentCodec.decode(value));
      else live.set(extent, decodeCounter(value));
    }
  }
  return { records, live };
}

interface SealParts {
  readonly store: Store;
  readonly files: ExtentFiles;
  readonly writer: ExtentWriter;
  readonly self: string;
}

/** Stores the final length of extents that nothing writes any more: those of ended processes (not
 *  `alive`), and those that this process failed to create. Returns whether there were any. */
export async function sealAbandoned(
  { store, files, writer, self }: SealParts,
  states: readonly ExtentState[],
  alive: ReadonlySet<string>,
): Promise<boolean> {
  let isAny = false;
  for (const { extent, record } of states) {
    if (record.sealedBytes !== undefined) continue;
    const inUse = record.writer === self ? writer.owns(extent) : alive.has(record.writer);
    if (inUse) continue;
    isAny = true;
    const sealedBytes = await files.size(extent);
    const seal = async (tx: Transaction): Promise<void> => {
      const current = await tx.get(extentKey(extent));
      if (current === undefined) return;
      const { sealedBytes: known, writer: by } = extentCodec.decode(current);
      if (known === undefined)
        tx.put(extentKey(extent), extentCodec.encode({ writer: by, sealedBytes }));
    };
    await store.transact(seal, { mayUseReserve: true });
  }
  return isAny;
}

/** Removes the record of an extent that gets no more bytes, if nothing refers to it; its file is
 *  removed when no reader can see it any more. The counter is read with `get`, so that a concurrent
 *  new reference causes a conflict. */
export async function removeIfUnreferenced(
  tx: Transaction,
  extent: bigint,
  garbageId: bigint,
): Promise<boolean> {
  const stored = await tx.get(extentKey(extent));
  if (stored === undefined || extentCodec.decode(stored).sealedBytes === undefined) return false;
  if (decodeCounter(await tx.get(liveKey(extent))) !== 0n) return false;
  tx.delete(extentKey(extent));
  tx.delete(liveKey(extent));
  const garbage = { nodes: [], trees: [], extents: [extent] };
  tx.put(garbageKey(tx.sequence, garbageId), garbageCodec.encode(garbage));
  return true;
}
