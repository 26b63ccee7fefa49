import { copyMarkKey, storeIdKey } from "../../content/tables.ts";
import type { Entry, Key, Store } from "../../store/store.ts";

/** The range of keys to copy. Keys before it belong to the store itself, keys after it to running
 *  processes. */
export const allRecords = { start: Uint8Array.of(0x01), end: Uint8Array.of(0xfc) };

const pageEntriesMax = 512;
const pageBytesMax = 2 * 1024 * 1024;
/** Identity and copy state of a store; never copied. */
const excludedKeys: ReadonlySet<string> = new Set([storeIdKey(), copyMarkKey()].map(hex));

/** Pages of records after `after`, each from its own snapshot: a view expires after 60 s. */
export async function* recordPages(store: Store, after: Key): AsyncGenerator<readonly Entry[]> {
  for (let last = after; ;) {
    const page = await store.snapshot(async (view) => {
      const start = last.length === 0 ? allRecords.start : successorOf(last);
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

/** The first key after `key`. */
function successorOf(key: Key): Key {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

function hex(key: Key): string {
  return Buffer.from(key).toString("hex");
}
