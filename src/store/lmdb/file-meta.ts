import { readSync } from "node:fs";

/** Page size of the data files, chosen so that keys of 4,000 bytes fit. */
export const pageBytes = 8192;
/** Header of every page: page number, transaction, key size, flags, bounds. */
export const pageHeaderBytes = 24;

const metaCount = 2;
const metaBytes = 160;
const magic = 0xbeefc0de;
const noRoot = 2n ** 64n - 1n;

/** Fields of the newer of the two meta pages of an LMDB file. */
export interface FileMeta {
  /** First page that was never used. */
  readonly nextPage: number;
  /** Depth of the tree of records. */
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  /** Root of the tree of free pages; `undefined` if it is empty. */
  readonly freeRoot: number | undefined;
  /** The last committed transaction. */
  readonly transaction: number;
}

const buffer = Buffer.alloc(metaBytes);

/** Reads the meta pages. Must run under the write lock; otherwise they may change meanwhile.
 *  Offsets: `MDB_meta` of lmdb 3.5. */
export function readMeta(descriptor: number): FileMeta {
  let latest: FileMeta | undefined;
  for (let index = 0; index < metaCount; index += 1) {
    const read = readSync(descriptor, buffer, 0, metaBytes, index * pageBytes);
    const isMeta = read === metaBytes && buffer.readUInt32LE(24) === magic;
    if (!isMeta || buffer.readUInt32LE(48) !== pageBytes) {
      throw new Error(`meta page ${index} of the store file has an unknown layout`);
    }
    const transaction = Number(buffer.readBigUInt64LE(152));
    if (latest === undefined || transaction > latest.transaction) latest = decoded(transaction);
  }
  if (latest === undefined) throw new Error("the store file has no meta page");
  return latest;
}

function decoded(transaction: number): FileMeta {
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
