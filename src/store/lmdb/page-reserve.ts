import { fstatSync, writeSync } from "node:fs";

import type { EngineBatch, EngineReader, EngineWrite } from "../engine.ts";
import { StoreFull } from "../store.ts";
import { pageBytes, readMeta } from "./file-meta.ts";
import type { FileMeta } from "./file-meta.ts";
import { countFreePages } from "./free-pages.ts";

export interface PageReserveOptions {
  readonly descriptor: number;
  /** Whether some pages are reserved for transactions that free space. If not, every transaction
   *  may use all pages. */
  readonly keepsReserve: boolean;
  /** Returns the oldest transaction that a reader of any process sees; `undefined` without
   *  readers. */
  readonly oldestReader: () => number | undefined;
}

/** Smallest reserve, 4 MiB: enough for a few of the largest batches of deletes. */
const reservePagesMin = 512;
const reservePagesMax = 4096;
const reserveShare = 32;
/** Pages by which the file grows at a time: 2 to 16 MiB. */
const aheadPagesMin = 256;
const aheadPagesMax = 2048;
const aheadShare = 4;
/** Unit of `stat.blocks`. */
const blockBytes = 512;
const zeros = Buffer.alloc(128 * pageBytes);

const noSpaceCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Prevents the library from meeting a full disk: lmdb 3.5 overruns its heap when a page cannot be
 *  written (docs/adr/013-full-disk.md). Before a commit the file is extended with zeros, so that it
 *  owns the blocks for all pages that the commit needs in the worst case; if that fails, the commit
 *  is rejected. A part of the space is reserved for transactions that free space, because in a
 *  copy-on-write tree these take space first. The library ignores the pages after the last used
 *  one. */
export class PageReserve {
  readonly #options: PageReserveOptions;
  #meta: FileMeta;
  /** Pages that commits may use before the file must be examined again. */
  #room = 0;
  #sequence = -1;

  constructor(options: PageReserveOptions) {
    this.#options = options;
    this.#meta = readMeta(options.descriptor);
  }

  /** Reserves the pages for a batch, or throws `StoreFull`. Must run under the write lock, before
   *  anything is written. */
  admit(batch: EngineBatch, current: EngineReader): void {
    // Commits of other processes show in the sequence or in the commit priority.
    const isKnown = current.sequence === this.#sequence && current.priorityOwner === 0;
    const demand = demandOf(batch.writes, this.#meta);
    const kept = this.#reservedPages(batch);
    if (!isKnown || demand.pages + kept > this.#room) this.#makeRoom(batch);
    else this.#room -= demand.pages;
    this.#sequence = batch.sequence;
  }

  #reservedPages({ mayUseReserve }: EngineBatch): number {
    if (mayUseReserve === true || !this.#options.keepsReserve) return 0;
    return clamp(this.#meta.nextPage / reserveShare, reservePagesMin, reservePagesMax);
  }

  #makeRoom(batch: EngineBatch): void {
    const { descriptor } = this.#options;
    this.#meta = readMeta(descriptor);
    const { nextPage } = this.#meta;
    const demand = demandOf(batch.writes, this.#meta);
    const needed = demand.pages + this.#reservedPages(batch);
    let end = this.#fileEnd(nextPage);
    if (end < nextPage + needed) {
      const ahead = clamp(nextPage / aheadShare, aheadPagesMin, aheadPagesMax);
      end = this.#write(end, nextPage + needed + ahead);
    }
    this.#room = end - nextPage;
    if (this.#room < needed) this.#useFreePages(demand, needed);
    this.#room -= demand.pages;
  }

  /** The page at which the file ends. Fills the holes that a copy of the file may have where zeros
   *  were written. */
  #fileEnd(nextPage: number): number {
    const { size, blocks } = fstatSync(this.#options.descriptor);
    const end = Math.floor(size / pageBytes);
    const mayHaveHoles = this.#sequence < 0 && blocks * blockBytes < size;
    return mayHaveHoles && nextPage < end ? this.#write(nextPage, end) : end;
  }

  /** Adds free pages to the room, which the library uses before new ones. Counts only 3/4 of them,
   *  because some may be unusable. */
  #useFreePages({ together }: PageDemand, needed: number): void {
    const { descriptor, oldestReader } = this.#options;
    const { transaction } = this.#meta;
    const oldest = Math.min(oldestReader() ?? transaction, transaction);
    const free = Math.floor((countFreePages(descriptor, this.#meta, oldest) * 3) / 4);
    const isEnough = together <= this.#room && needed <= this.#room + free;
    if (!isEnough) {
      const room = this.#room;
      this.#room = 0;
      throw new StoreFull(
        `disk full: the commit needs ${needed} pages, ${room} are allocated and ${free} are free`,
      );
    }
    this.#room += free;
  }

  /** Writes zeros up to page `end`, or as far as the disk allows. Returns the page at which the
   *  file ends. */
  #write(start: number, end: number): number {
    let position = start * pageBytes;
    const target = end * pageBytes;
    try {
      while (position < target) {
        const length = Math.min(zeros.length, target - position);
        position += writeSync(this.#options.descriptor, zeros, 0, length, position);
      }
    } catch (error) {
      if (!(error instanceof Error && "code" in error && noSpaceCodes.has(error.code))) throw error;
    }
    return Math.floor(position / pageBytes);
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.ceil(Math.min(Math.max(value, min), max));
}

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
