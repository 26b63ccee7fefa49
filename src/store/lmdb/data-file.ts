import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { Log } from "../../base/world.ts";
import { isNoSpaceError } from "../folders.ts";
import { StoreFull, StoreUnavailable } from "../store.ts";
import { StoreDamaged } from "./location.ts";
import type { EngineBatch, EngineReader, EngineWrite } from "../engine.ts";

/** What the LMDB library leaves to its caller: modes of its files, its lock file, a deleted data
 *  file, and a full disk, on which lmdb 3.5 would end the process or damage its memory.
 *  `lmdb-engine.ts` calls this before and after its commits. */

/** Name of the file with the records, in the folder of the store. */
export const recordsFile = "store.mdb";

const groupAndOthers = 0o077;

/** Opens a data file that the LMDB library created, and removes the access for other users that the
 *  library grants. */
export function openDataFile(path: string): number {
  const descriptor = openSync(path, "r+");
  if ((fstatSync(descriptor).mode & groupAndOthers) === 0) return descriptor;
  try {
    fchmodSync(descriptor, 0o600);
  } catch {
    // The file belongs to another user, so its mode cannot be changed. The mode of the folder
    // protects it; if it does not, the server has logged that.
  }
  return descriptor;
}

/** Parts of LMDB's lock file: a header, and 64 bytes for each reader. */
const headerBytes = 8192;
const readerBytes = 64;

/** Creates LMDB's lock file, the list of readers, with all its blocks allocated. The library would
 *  create it sparse, map it and write through the mapping: on a full disk the first write to a hole
 *  ends the process with SIGBUS. */
export function ensureLockFile(dataPath: string, readersMax: number): void {
  const path = `${dataPath}-lock`;
  if (existsSync(path)) return;
  // The file gets its name only when it is complete, because another process may open it at once.
  const draft = `${path}.${process.pid}`;
  try {
    const bytes = Buffer.alloc(headerBytes + readersMax * readerBytes);
    writeFileSync(draft, bytes, { mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a sparse lock file of an earlier release, so that `ensureLockFile` creates it with its
 *  blocks allocated. No other process may have the location open. */
export function removeSparseLockFile(dataPath: string): void {
  const path = `${dataPath}-lock`;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && found.blocks * 512 < found.size) rmSync(path, { force: true });
}

interface FileIdentityOptions {
  readonly path: string;
  readonly descriptor: number;
  readonly log: Log | undefined;
}

/** Detects that an open data file was deleted, moved or replaced, by an operator for example. Later
 *  commits to it would be lost with the process, although flushed. Checked after each commit,
 *  before clients get its result. */
export class FileIdentityCheck {
  readonly #options: FileIdentityOptions;
  #inode: number;
  #isLost = false;

  constructor(options: FileIdentityOptions) {
    this.#options = options;
    this.#inode = fstatSync(options.descriptor).ino;
  }

  /** Whether the last check found another file, or none, under the path. */
  get isLost(): boolean {
    return this.#isLost;
  }

  check(): void {
    const found = statSync(this.#options.path, { throwIfNoEntry: false });
    if (found?.ino === this.#inode) this.#isLost = false;
    else this.#compare();
  }

  /** Compares the file under the path with the open one. Reads the inode of both, because some
   *  network file systems change that of an open file. */
  #compare(): void {
    const { path, descriptor, log } = this.#options;
    const found = statSync(path, { throwIfNoEntry: false });
    const own = fstatSync(descriptor);
    if (found !== undefined && found.ino === own.ino && found.dev === own.dev) {
      this.#inode = own.ino;
      this.#isLost = false;
      return;
    }
    if (!this.#isLost) {
      const message =
        "data file was deleted or replaced; rejecting writes until restored or restarted";
      log?.error({ path }, message);
    }
    this.#isLost = true;
    throw new StoreUnavailable(`${path} was deleted or replaced while it was open`);
  }
}

/** Page size of the data files. LMDB's usual 4 KiB would be too small: a page must hold two keys,
 *  which may have 4,000 bytes each. */
export const pageBytes = 8192;
/** Length of the header of every page: page number, transaction, key size, flags, bounds. */
const pageHeaderBytes = 24;

/** Number of meta pages, which describe the file. LMDB writes them alternately; the one with the
 *  later transaction is valid. */
const metaCount = 2;
const metaBytes = 160;
const magic = 0xbeefc0de;
const noRoot = 2n ** 64n - 1n;

/** What `PageReserve` needs of the newer of the two meta pages of an LMDB file. */
interface FileMeta {
  /** Number of the first page that was never used. */
  readonly nextPage: number;
  /** Depth of LMDB's B+tree of records: a write copies one page of each level. */
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  /** Root of the tree of free pages; `undefined` if it is empty. */
  readonly freeRoot: number | undefined;
  /** Number of the last committed transaction. */
  readonly transaction: number;
}

/** Reads the newer meta page of an LMDB file. Must run under the write lock; otherwise a commit may
 *  change it during the read. Offsets: `MDB_meta` of lmdb 3.5. */
export function readMeta(descriptor: number): FileMeta {
  const buffer = Buffer.alloc(metaBytes);
  let latest: FileMeta | undefined;
  for (let index = 0; index < metaCount; index += 1) {
    const read = readSync(descriptor, buffer, 0, metaBytes, index * pageBytes);
    const isMeta = read === metaBytes && buffer.readUInt32LE(24) === magic;
    if (!isMeta || buffer.readUInt32LE(48) !== pageBytes) {
      throw new Error(`meta page ${index} of the store file has an unknown layout`);
    }
    const transaction = Number(buffer.readBigUInt64LE(152));
    if (latest === undefined || transaction > latest.transaction)
      latest = decoded(buffer, transaction);
  }
  if (latest === undefined) throw new Error("the store file has no meta page");
  return latest;
}

/** Throws if the data file is shorter than its last commit has left it, as after an interrupted
 *  copy: the LMDB library would end the process when it reads a page that is missing. */
export function checkLength(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    // Another process may let the file grow, always before a meta page refers to the new pages.
    const hasMeta = fstatSync(descriptor).size >= metaCount * pageBytes;
    const usedBytes = hasMeta ? readMeta(descriptor).nextPage * pageBytes : Infinity;
    if (fstatSync(descriptor).size >= usedBytes) return;
  } finally {
    closeSync(descriptor);
  }
  throw new StoreDamaged(`${path} is truncated; restore it from a backup`);
}

function decoded(buffer: Buffer, transaction: number): FileMeta {
  const root = buffer.readBigUInt64LE(88);
  return {
    nextPage: Number(buffer.readBigUInt64LE(144)) + 1,
    depth: buffer.readUInt16LE(102),
    branchPages: Number(buffer.readBigUInt64LE(104)),
    leafPages: Number(buffer.readBigUInt64LE(112)),
    freeRoot: root === noRoot ? undefined : Number(root),
    transaction,
  };
}

/** Limit of the pages that `countFreePages` reads: enough for half a million free pages. */
const pagesReadMax = 512;

const branchFlag = 0x01;
const leafFlag = 0x02;
const ownPagesFlag = 0x01;
const nodeHeaderBytes = 8;
const transactionBytes = 8;
const numberBytes = 8;

/** Counts the free pages that a commit can use on a full disk, at least: those freed by
 *  transactions below `oldest`, which no reader can see. Called under the write lock. The tree of
 *  free pages maps a transaction to `[count, entry…]`; an entry is a page, 0, or the negative
 *  length of a run whose first page follows. */
export function countFreePages(descriptor: number, meta: FileMeta, oldest: number): number {
  if (meta.freeRoot === undefined) return 0;
  const pagesToRead = [meta.freeRoot];
  let free = 0;
  for (let reads = 0; reads < pagesReadMax; reads += 1) {
    const number = pagesToRead.pop();
    if (number === undefined) break;
    const page = readPages(descriptor, number, 1);
    const flags = page.readUInt16LE(18);
    const count = page.readUInt16LE(20) >> 1;
    for (let index = 0; index < count; index += 1) {
      const node = page.readUInt16LE(pageHeaderBytes + 2 * index) + pageHeaderBytes;
      if ((flags & branchFlag) !== 0) pagesToRead.push(childOf(page, node));
      else if ((flags & leafFlag) !== 0) free += freedBy(descriptor, page, node, oldest);
    }
  }
  return free;
}

function childOf(page: Buffer, node: number): number {
  return page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32;
}

function freedBy(descriptor: number, page: Buffer, node: number, oldest: number): number {
  const data = node + nodeHeaderBytes + page.readUInt16LE(node + 6);
  const transaction = Number(page.readBigUInt64LE(data - transactionBytes));
  if (transaction >= oldest) return 0;
  const bytes = page.readUInt32LE(node);
  if ((page.readUInt16LE(node + 4) & ownPagesFlag) === 0) {
    return pagesOf(page.subarray(data, data + bytes));
  }
  const first = Number(page.readBigUInt64LE(data));
  const own = readPages(descriptor, first, Math.ceil((bytes + pageHeaderBytes) / pageBytes));
  return pagesOf(own.subarray(pageHeaderBytes, pageHeaderBytes + bytes));
}

function pagesOf(entries: Buffer): number {
  const last = Math.min(Number(entries.readBigInt64LE(0)), entries.length / numberBytes - 1);
  let pages = 0;
  for (let index = 1; index <= last; index += 1) {
    const entry = Number(entries.readBigInt64LE(index * numberBytes));
    if (entry > 0) pages += 1;
    else if (entry < 0) {
      pages -= entry;
      index += 1;
    }
  }
  return pages;
}

function readPages(descriptor: number, first: number, count: number): Buffer {
  const pages = Buffer.allocUnsafeSlow(count * pageBytes);
  const read = readSync(descriptor, pages, 0, pages.length, first * pageBytes);
  if (read !== pages.length) throw new Error(`page ${first} is beyond the end of the store file`);
  return pages;
}

interface PageReserveOptions {
  readonly descriptor: number;
  /** Whether some pages are reserved for transactions that free space, which is not needed in a
   *  file that ends with the boot. */
  readonly keepsReserve: boolean;
  /** The oldest transaction that a reader of any process sees; pages freed later are in use. */
  readonly oldestReader: () => number | undefined;
}

/** Pages reserved for transactions that free space: 1/32 of the file, 4 to 32 MiB. 4 MiB are enough
 *  for a few of the largest batches of deletes. */
const reservePagesMin = 512;
const reservePagesMax = 4096;
const reserveShare = 32;
/** Pages by which the file grows at a time: 1/4 of it, 2 to 16 MiB, so that few commits do so. */
const aheadPagesMin = 256;
const aheadPagesMax = 2048;
const aheadShare = 4;
/** Bytes per unit of `blocks` in the result of `fstat`. */
const blockBytes = 512;
const zeros = Buffer.alloc(128 * pageBytes);

/** Keeps the LMDB library from writing to a full disk: lmdb 3.5 overruns its heap when a page
 *  cannot be written (docs/adr/013-full-disk.md). Before a commit the file is extended with zeros,
 *  so that it owns the blocks for all pages that the commit needs in the worst case; if that fails,
 *  the commit is rejected. A part of the space is reserved for transactions that free space,
 *  because in a copy-on-write tree even a delete takes pages first. The library ignores the pages
 *  after the last used one. */
export class PageReserve {
  readonly #options: PageReserveOptions;
  #meta: FileMeta;
  /** Allocated pages that commits may use before the file must be examined again. */
  #room = 0;
  #sequence = -1;

  constructor(options: PageReserveOptions) {
    this.#options = options;
    this.#meta = readMeta(options.descriptor);
  }

  /** Called before each commit, under the write lock: reserves the pages that the batch may need,
   *  or throws `StoreFull`. */
  admit(batch: EngineBatch, current: EngineReader): void {
    // After a commit by another process, which changes sequence or priority, `#room` is wrong.
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

  /** The page at which the file ends. A copy of the file may have holes instead of zeros, which own
   *  no blocks: fills them. */
  #fileEnd(nextPage: number): number {
    const { size, blocks } = fstatSync(this.#options.descriptor);
    const end = Math.floor(size / pageBytes);
    const mayHaveHoles = this.#sequence < 0 && blocks * blockBytes < size;
    return mayHaveHoles && nextPage < end ? this.#write(nextPage, end) : end;
  }

  /** Adds to `#room` the free pages inside the file, which the library uses before new ones. Counts
   *  only 3/4 of them, because some may be unusable. */
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

  /** Extends the file with zeros up to page `end`, or as far as the disk allows. Returns the page
   *  at which the file ends. */
  #write(start: number, end: number): number {
    let position = start * pageBytes;
    const target = end * pageBytes;
    try {
      while (position < target) {
        const length = Math.min(zeros.length, target - position);
        position += writeSync(this.#options.descriptor, zeros, 0, length, position);
      }
    } catch (error) {
      if (!isNoSpaceError(error)) throw error;
    }
    return Math.floor(position / pageBytes);
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.ceil(Math.min(Math.max(value, min), max));
}

/** A larger LMDB entry (header, key, value) gets its own overflow pages. */
const nodeBytesMax = pageBytes / 2 - 64;
/** Pages that any commit may need: for split roots, the tree of free pages, the state record. */
const pagesAlways = 32;
/** Limit of the pages of the free list in a commit: the library rewrites at most 75,000 entries of
 *  8 bytes. */
const listPagesMax = 160;
const listEntriesPerPage = 512;
/** A branch page that was split takes at least this many bytes of keys before the next split. */
const splitBytesMin = 2048;
const branchEntryBytes = 10;

/** How many pages a commit needs in the worst case. */
interface PageDemand {
  readonly pages: number;
  /** Pages that must be contiguous: scattered free pages cannot serve them. */
  readonly together: number;
}

/** Computes how many pages a commit may need. A write copies one page per level of the tree, a
 *  delete also a neighbour of each to merge with; no page is copied twice in a commit. A put may
 *  split its leaf. A branch page is split if it was full, and again when its halves are. */
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

/** Parses the library's list of open readers, which has a line with process, thread and transaction
 *  for each. Returns the lowest transaction; undefined without readers. */
export function oldestReaderOf(list: string): number | undefined {
  const transactions = list
    .split("\n")
    .map((line) => Number(line.trim().split(/\s+/)[2] ?? ""))
    .filter((transaction) => transaction > 0);
  return transactions.length === 0 ? undefined : Math.min(...transactions);
}
