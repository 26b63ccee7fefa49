import type { EngineWrite } from "../engine.ts";
import { pageBytes, type FileMeta } from "./file-meta.ts";

/** Larger nodes (header, key, value) get pages of their own. */
const nodeBytesMax = pageBytes / 2 - 64;
/** Roots that are split, the tree of free pages, the state of the store. */
const pagesAlways = 32;
/** The library rewrites at most 75,000 entries of its list of free pages, 8 bytes each. */
const listPagesMax = 160;
const listEntriesPerPage = 512;
/** A branch page that was split once takes at least so many bytes of keys before the next time. */
const splitBytesMin = 2048;
const branchEntryBytes = 10;

/** The pages that a commit may need in the worst case. */
export interface PageDemand {
  readonly pages: number;
  /** Of these, the ones that must lie together: free pages here and there do not help. */
  readonly together: number;
}

/**
 * On its way down a write copies a page per level, and a deletion a neighbour of each as well, to
 * merge with it; none is copied twice in a commit. A put may split its leaf. A branch page is split
 * if it was full, and again when keys have filled its halves.
 */
export function demandOf(writes: readonly EngineWrite[], meta: FileMeta): PageDemand {
  let together = 0;
  let leaves = 1;
  let keyBytes = 0;
  for (const { key, value } of writes) {
    leaves += value === undefined ? 2 : 1;
    if (value === undefined) continue;
    keyBytes += key.length + branchEntryBytes;
    const bytes = key.length + value.length;
    if (bytes > nodeBytesMax) together += Math.ceil(bytes / pageBytes) + 1;
  }
  const splits = writes.length + 1;
  const branches = Math.min(leaves * meta.depth, meta.branchPages);
  const branchSplits = branches + keyBytes / splitBytesMin + meta.depth;
  const copies = Math.min(leaves, meta.leafPages) + branches;
  const list = Math.min(meta.nextPage / listEntriesPerPage, listPagesMax);
  const freed = (copies + together) / listEntriesPerPage;
  const pages = copies + splits + branchSplits + together + list + freed + pagesAlways;
  return { pages: Math.ceil(pages), together };
}
