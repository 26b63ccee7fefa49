import { readSync } from "node:fs";
import { pageBytes, pageHeaderBytes, type FileMeta } from "./file-meta.ts";

/** Pages read per count: enough for half a million free pages. */
const pagesReadMax = 512;

const branchFlag = 0x01;
const leafFlag = 0x02;
const ownPagesFlag = 0x01;
const nodeHeaderBytes = 8;
const transactionBytes = 8;
const numberBytes = 8;

/** Counts the free pages that a commit can use before the file must grow: those freed by
 *  transactions below `oldest`, which no reader can see. A lower bound. Called under the write lock
 *  when the disk is full. The tree of free pages maps a transaction to `[count, entry…]`; an entry
 *  is a page, 0, or the negative length of a run whose first page follows. */
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
