import { successor, type KeyBounds } from "../../encoding/keys.ts";
import type { Entry, View } from "../../store/store.ts";

const pageBytes = 1024 * 1024;
const pageEntriesMax = 512;
const pageEntriesFirst = 8;

/** Pages of a range with about 1 MiB each. A scan of the store reads 512 entries at a time, which
 *  is too much memory if each entry has 1 MiB. */
export async function* pagesOf(
  view: View,
  { start, end }: KeyBounds,
): AsyncGenerator<readonly Entry[]> {
  let from = start;
  for (let limit = pageEntriesFirst; ;) {
    const page: Entry[] = [];
    for await (const entries of view.range({ start: from, end, limit })) page.push(...entries);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < limit) return;
    from = successor(last.key);
    const bytes = page.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const fitting = Math.floor((pageBytes * page.length) / bytes);
    limit = Math.max(1, Math.min(pageEntriesMax, 4 * limit, fitting));
  }
}
