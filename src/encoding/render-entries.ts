import { spend } from "../base/loop-share.ts";
import { PagedText } from "./paged-text.ts";

/** Most entries rendered per step: each may have 8 KiB of metadata. */
const entriesAtOnceMax = 64;

/** Renders the entries of a listing, yielding to the event loop between steps. */
export async function renderEntries<T>(
  items: readonly T[],
  render: (item: T) => string,
): Promise<PagedText> {
  const entries = new PagedText();
  for (let from = 0; from < items.length; from += entriesAtOnceMax) {
    const some = items.slice(from, from + entriesAtOnceMax);
    for (const item of some) entries.append(render(item));
    const wait = spend(some.length);
    if (wait !== undefined) await wait;
  }
  return entries;
}
