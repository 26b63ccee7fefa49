import { copyMarkKey } from "../../content/tables.ts";
import { recordCodec } from "../../encoding/record.ts";
import type { Store, View } from "../../store/store.ts";
import { allRecords } from "./record-pages.ts";

/** Progress of a copy. Extents and records are copied in ascending order. */
export interface CopyMark {
  /** Name of the source. */
  readonly from: string;
  /** The last extent that is complete. */
  readonly extent: bigint;
  /** Key of the last record that was copied. */
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

/** Throws if the store is an incomplete copy, which must not be served or copied into. */
export async function refuseHalfCopied(store: Store): Promise<void> {
  const mark = await store.snapshot(readMark);
  if (mark === undefined) return;
  throw new Error(`the copy from ${mark.from} is incomplete: run etagere copy again`);
}

/** Returns the position at which the copy begins or continues. Throws if the store has data from
 *  elsewhere. */
export function beginCopy(store: Store, from: string): Promise<CopyMark> {
  return store.transact(async (tx) => {
    const found = await readMark(tx);
    if (found?.from === from) return found;
    if (found !== undefined) throw new Error(`a copy from ${found.from} is incomplete`);
    for await (const entries of tx.range({ ...allRecords, limit: 1 })) {
      if (entries.length > 0) throw new Error("the target is not empty");
    }
    const mark = { from, extent: 0n, key: new Uint8Array(0) };
    tx.put(copyMarkKey(), encodeMark(mark));
    return mark;
  });
}

export function endCopy(store: Store): Promise<void> {
  return store.transact(async (tx) => tx.delete(copyMarkKey()));
}
