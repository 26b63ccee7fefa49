import type { EngineWrite } from "../engine.ts";
import { pageBytes, type FileMeta } from "./file-meta.ts";

/** An LMDB node (header, key, value) that is larger gets its own overflow pages. */
const nodeBytesMax = pageBytes / 2 - 64;
/** Pages for split roots, the tree of free pages and the state record. */
const pagesAlways = 32;
/** The library rewrites at most 75,000 entries of its free list, 8 bytes each. */
const listPagesMax = 160;
const listEntriesPerPage = 512;
/** A branch page that was split takes at least this many bytes of keys before the next split. */
const splitBytesMin = 2048;
const branchEntryBytes = 10;

/** Pages that a commit needs in the worst case. */
export interface PageDemand {
  readonly pages: number;
  /** Pages that must be contiguous: scattered free pages cannot serve them. */
  readonly together: number;
}

/** Computes the worst case. A write copies one page per level, a delete also a neighbour of each to
 *  merge with; no page is copied twice in a commit. A put may split its leaf. A branch page is
 *  split if it was full, and again when keys have filled its halves. */
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
