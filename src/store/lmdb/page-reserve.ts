import { fstatSync, writeSync } from "node:fs";
import type { EngineBatch, EngineReader } from "../engine.ts";
import { StoreFull } from "../store.ts";
import { pageBytes, readMeta, type FileMeta } from "./file-meta.ts";
import { countFreePages } from "./free-pages.ts";
import { demandOf, type PageDemand } from "./page-demand.ts";

export interface PageReserveOptions {
  readonly descriptor: number;
  /** Whether pages are kept for transactions that free space; a file without them serves all
   *  alike. */
  readonly keepsReserve: boolean;
  /** The oldest transaction that a reader of any process sees; `undefined` if none reads. */
  readonly oldestReader: () => number | undefined;
}

/** 4 MiB: a few commits of deletions, of the largest kind that is not split. */
const reservePagesMin = 512;
const reservePagesMax = 4096;
const reserveShare = 32;
/** 2 to 16 MiB are made ready at a time. */
const aheadPagesMin = 256;
const aheadPagesMax = 2048;
const aheadShare = 4;
/** The unit in which a file's blocks are counted. */
const blockBytes = 512;
const zeros = Buffer.alloc(128 * pageBytes);

const noSpaceCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Keeps the engine from ever meeting a full disk: lmdb 3.5 overruns its heap when a page cannot be
 * written. Before a commit the file is made long enough for all pages that it may need in the worst
 * case, with zeros, so that their blocks belong to the file; if that fails, the commit is refused.
 * A part of it only serves transactions that free space, which in a copy-on-write tree takes space
 * first. The pages after the last used one mean nothing to the library.
 */
export class PageReserve {
  readonly #options: PageReserveOptions;
  #meta: FileMeta;
  /** Pages that may still be used before the file must be looked at again. */
  #room = 0;
  #sequence = -1;

  constructor(options: PageReserveOptions) {
    this.#options = options;
    this.#meta = readMeta(options.descriptor);
  }

  /** Under the write lock, before anything is written. Throws `StoreFull`. */
  admit(batch: EngineBatch, current: EngineReader): void {
    // Commits of other processes are seen by their sequence, or by the turn that they ask for.
    const isKnown = current.sequence === this.#sequence && current.priorityOwner === 0;
    const demand = demandOf(batch.writes, this.#meta);
    const kept = this.#keptFrom(batch);
    if (!isKnown || demand.pages + kept > this.#room) this.#makeRoom(batch);
    else this.#room -= demand.pages;
    this.#sequence = batch.sequence;
  }

  #keptFrom({ mayUseReserve }: EngineBatch): number {
    if (mayUseReserve === true || !this.#options.keepsReserve) return 0;
    return clamp(this.#meta.nextPage / reserveShare, reservePagesMin, reservePagesMax);
  }

  #makeRoom(batch: EngineBatch): void {
    const { descriptor } = this.#options;
    this.#meta = readMeta(descriptor);
    const { nextPage } = this.#meta;
    const demand = demandOf(batch.writes, this.#meta);
    const needed = demand.pages + this.#keptFrom(batch);
    let end = this.#fileEnd(nextPage);
    if (end < nextPage + needed) {
      const ahead = clamp(nextPage / aheadShare, aheadPagesMin, aheadPagesMax);
      end = this.#write(end, nextPage + needed + ahead);
    }
    this.#room = end - nextPage;
    if (this.#room < needed) this.#useFreePages(demand, needed);
    this.#room -= demand.pages;
  }

  /** A file that was copied may have holes where zeros were written ahead. */
  #fileEnd(nextPage: number): number {
    const { size, blocks } = fstatSync(this.#options.descriptor);
    const end = Math.floor(size / pageBytes);
    const mayHaveHoles = this.#sequence < 0 && blocks * blockBytes < size;
    return mayHaveHoles && nextPage < end ? this.#write(nextPage, end) : end;
  }

  /** The library takes free pages before new ones. Not all are relied on: some may be left over. */
  #useFreePages({ together }: PageDemand, needed: number): void {
    const { descriptor, oldestReader } = this.#options;
    const { transaction } = this.#meta;
    const oldest = Math.min(oldestReader() ?? transaction, transaction);
    const free = Math.floor((countFreePages(descriptor, this.#meta, oldest) * 3) / 4);
    const isEnough = together <= this.#room && needed <= this.#room + free;
    if (!isEnough) {
      const room = this.#room;
      this.#room = 0;
      throw new StoreFull(`no space: ${needed} pages needed, ${room} ahead, ${free} free`);
    }
    this.#room += free;
  }

  /** Up to the page before `end`, or as far as the disk allows. Returns where the file ends. */
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
