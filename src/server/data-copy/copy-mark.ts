import { copyMarkKey } from "../../content/tables.ts";
import { recordCodec } from "../../encoding/record.ts";
import type { Store, View } from "../../store/store.ts";
import { allRecords } from "./record-pages.ts";

/** How far a copy has come: extents and records are copied in the order of their keys. */
export interface CopyMark {
  readonly from: string;
  /** The last one that is whole. */
  readonly extent: bigint;
  /** The last record that is there. */
  readonly key: Uint8Array;
}

const codec = recordCodec<CopyMark>({ version: 1 });

export async function readMark(view: View): Promise<CopyMark | undefined> {
  const stored = await view.get(copyMarkKey());
  return stored === undefined ? undefined : codec.decode(stored);
}

export function encodeMark(mark: CopyMark): Uint8Array {
  return codec.encode(mark);
}

/** A store that is half a copy is not to be served, nor written into by another copy. */
export async function refuseHalfCopied(store: Store): Promise<void> {
  const mark = await store.snapshot(readMark);
  if (mark === undefined) return;
  throw new Error(`a copy of ${mark.from} into it is not finished: run etagere copy again`);
}

/** Where the copy goes on, or begins: into a store with nothing in it. */
export function beginCopy(store: Store, from: string): Promise<CopyMark> {
  return store.transact(async (tx) => {
    const found = await readMark(tx);
    if (found?.from === from) return found;
    if (found !== undefined) throw new Error(`a copy of ${found.from} into it is not finished`);
    for await (const entries of tx.range({ ...allRecords, limit: 1 })) {
      if (entries.length > 0) throw new Error("it is not empty");
    }
    const mark = { from, extent: 0n, key: new Uint8Array(0) };
    tx.put(copyMarkKey(), encodeMark(mark));
    return mark;
  });
}

export function endCopy(store: Store): Promise<void> {
  return store.transact(async (tx) => tx.delete(copyMarkKey()));
}
