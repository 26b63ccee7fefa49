import { copyMarkKey, storeIdKey } from "../../content/tables.ts";
import type { Entry, Key, Store } from "../../store/store.ts";

/** What belongs to the store itself lies before, what belongs to processes behind. */
export const allRecords = { start: Uint8Array.of(0x01), end: Uint8Array.of(0xfc) };

const pageEntriesMax = 512;
const pageBytesMax = 2 * 1024 * 1024;
/** They say who a store is and what is being done to it, and stay where they are. */
const staying: ReadonlySet<string> = new Set([storeIdKey(), copyMarkKey()].map(hex));

/** Records after `after`, by pages, each from a state of its own: a state must not get old. */
export async function* recordPages(store: Store, after: Key): AsyncGenerator<readonly Entry[]> {
  for (let last = after; ;) {
    const page = await store.snapshot(async (view) => {
      const start = last.length === 0 ? allRecords.start : following(last);
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
    yield page.filter(({ key }) => !staying.has(hex(key)));
  }
}

/** The first key behind another. */
function following(key: Key): Key {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

function hex(key: Key): string {
  return Buffer.from(key).toString("hex");
}
