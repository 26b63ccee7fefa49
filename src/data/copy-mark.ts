import { successor } from "../encoding/keys.ts";
import { copyMarkKey, storeIdKey } from "../content/tables.ts";
import { keyringKey } from "../store/encryption/record-cipher.ts";
import type { Entry, Key, Store, View } from "../store/store.ts";
import { recordCodec } from "../encoding/table.ts";

/** The mark of an incomplete `etagere copy`, and the pages of records that it copies. `commands`
 *  copies; servers refuse a store with a mark. */

/** Progress of `etagere copy`, stored in the target: an interrupted copy continues from it, and no
 *  server opens a target that has it. Extents and records are copied in ascending order. */
export interface CopyMark {
  /** Name of the store that is copied. */
  readonly from: string;
  /** Id of the last extent that was copied completely. */
  readonly extent: bigint;
  /** Key of the last record that was copied. */
  readonly key: Uint8Array;
}

const codec = recordCodec<CopyMark>({ version: 1 });

async function readMark(view: View): Promise<CopyMark | undefined> {
  const stored = await view.get(copyMarkKey());
  return stored === undefined ? undefined : codec.decode(stored);
}

export function encodeMark(mark: CopyMark): Uint8Array {
  return codec.encode(mark);
}

/** Throws if the store is an incomplete copy, which must neither be served nor copied. */
export async function refuseHalfCopied(store: Store): Promise<void> {
  const mark = await store.snapshot(readMark);
  if (mark === undefined) return;
  throw new Error(`the copy from ${mark.from} is incomplete: run etagere copy again`);
}

/** Returns the position at which the copy begins or continues. Throws if the store has other
 *  data. */
export function beginCopy(store: Store, from: string): Promise<CopyMark> {
  return store.transact(async (tx) => {
    const found = await readMark(tx);
    if (found?.from === from) return found;
    if (found !== undefined) throw new Error(`a copy from ${found.from} is incomplete`);
    for await (const entries of tx.range({ ...allRecords, limit: 2 })) {
      const isEmpty = entries.every(({ key }) => hex(key) === hex(keyringKey));
      if (!isEmpty) throw new Error("the target is not empty");
    }
    const mark = { from, extent: 0n, key: new Uint8Array(0) };
    tx.put(copyMarkKey(), encodeMark(mark));
    return mark;
  });
}

/** Deletes the mark after the last record, so that servers can open the store. */
export function endCopy(store: Store): Promise<void> {
  return store.transact(async (tx) => tx.delete(copyMarkKey()));
}

/** The range of keys to copy. Keys before it belong to the store itself, keys after it to running
 *  processes, which do not exist in the copy. */
const allRecords = { start: Uint8Array.of(0x01), end: Uint8Array.of(0xfc) };

const pageEntriesMax = 512;
const pageBytesMax = 2 * 1024 * 1024;
/** Keys that are never copied: identity, copy mark and data keys belong to one store. */
const excludedKeys: ReadonlySet<string> = new Set(
  [storeIdKey(), copyMarkKey(), keyringKey].map(hex),
);

/** Pages of records after `after`, each from its own snapshot: a view expires after 60 s. */
export async function* recordPages(store: Store, after: Key): AsyncGenerator<readonly Entry[]> {
  for (let last = after; ;) {
    const page = await store.snapshot(async (view) => {
      const start = last.length === 0 ? allRecords.start : successor(last);
      const found: Entry[] = [];
      let bytes = 0;
      for await (const entries of view.range({ ...allRecords, start, limit: pageEntriesMax })) {
        for (const { key, value } of entries) {
          found.push({ key: new Uint8Array(key), value: new Uint8Array(value) });
          bytes += key.length + value.length;
          if (bytes >= pageBytesMax) return found;
        }
      }
      return found;
    });
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.key;
    yield page.filter(({ key }) => !excludedKeys.has(hex(key)));
  }
}

function hex(key: Key): string {
  return Buffer.from(key).toString("hex");
}
