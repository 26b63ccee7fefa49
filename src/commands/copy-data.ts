import { claimFiles } from "../content/open-content.ts";
import type { ExtentFile, ExtentFiles } from "../content/extents/extent-files.ts";
import { copyMarkKey } from "../content/tables.ts";
import type { Random } from "../base/world.ts";
import type { Entry, Store } from "../store/store.ts";
import { beginCopy, encodeMark, endCopy, recordPages, type CopyMark } from "../data/copy-mark.ts";
import { listExtents, type ExtentState } from "../content/extents/extent-table.ts";
import type { ExtentRange } from "../content/extents/regions.ts";
import type { Progress } from "./progress.ts";

/** Carries out `etagere copy`, which copies all data to another engine and compares both sides. */

/** Source or target of a copy: its records and its extents, the files of stored bytes. */
interface CopySide {
  readonly store: Store;
  readonly files: ExtentFiles;
}

interface CopyOptions {
  readonly from: CopySide;
  readonly to: CopySide;
  /** Identifies the source, so that an interrupted copy continues only from the same source. */
  readonly fromName: string;
  readonly random: Random;
  readonly progress: Progress;
}

export interface CopyReport {
  readonly extents: number;
  readonly bytes: number;
  readonly records: number;
}

/** Length of a random id that is stored in both parts of the target, records and contents, so that
 *  neither is used with others (`claimFiles`). */
const storeIdBytes = 16;

/** Copies a store: contents first, so that no record ever refers to missing bytes, then records.
 *  Then compares every byte and record with the source. The mark of the copy in the target
 *  (`data/copy-mark.ts`) is removed last: until then no server opens the target, and an interrupted
 *  copy continues from the mark. */
export async function copyData(options: CopyOptions): Promise<CopyReport> {
  const { from, to, random, progress } = options;
  const sequence = await sequenceOf(from.store);
  if (await isEmpty(from.store)) throw new Error("the source is empty");
  const mark = await beginCopy(to.store, options.fromName);
  await to.store.raiseSequence(sequence);
  await claimFiles(to.store, to.files, () =>
    Buffer.from(random.bytes(storeIdBytes)).toString("hex"),
  );
  const extents = await extentSizes(from.store, from.files);
  const bytes = extents.reduce((sum, each) => sum + each.bytes, 0);
  const reached = await copyExtents(options, mark, extents);
  const copied = await copyRecords(options, reached);
  progress.begin({ what: "comparing contents", total: { bytes } });
  await compareExtents(options, extents);
  // A copy that was interrupted does not know how many records it has copied before.
  const items = mark.key.length === 0 ? copied : undefined;
  progress.begin({ what: "comparing records", total: { items } });
  const records = await compareRecords(options);
  if ((await sequenceOf(from.store)) !== sequence) {
    throw new Error("the source changed during the copy: stop its servers and copy again");
  }
  await endCopy(to.store);
  return { extents: extents.length, bytes, records };
}

async function isEmpty(store: Store): Promise<boolean> {
  const first = await recordPages(store, new Uint8Array(0)).next();
  return first.done === true;
}

function sequenceOf(store: Store): Promise<number> {
  return store.snapshot((view) => view.sequence);
}

async function copyExtents(
  { from, to, progress }: CopyOptions,
  mark: CopyMark,
  extents: readonly ExtentSize[],
): Promise<CopyMark> {
  const left = extents.filter(({ extent }) => extent > mark.extent);
  const bytes = left.reduce((sum, each) => sum + each.bytes, 0);
  progress.begin({ what: "copying contents", total: { bytes } });
  let reached = mark;
  for (const each of left) {
    await copyExtent(from.files, to.files, each, (count) => progress.add({ bytes: count }));
    reached = { ...reached, extent: each.extent };
    const value = encodeMark(reached);
    await to.store.transact(async (tx) => tx.put(copyMarkKey(), value));
  }
  return reached;
}

async function copyRecords({ from, to, progress }: CopyOptions, mark: CopyMark): Promise<number> {
  progress.begin({ what: "copying records", total: {} });
  let copied = 0;
  for await (const page of recordPages(from.store, mark.key)) {
    const last = page.at(-1);
    if (last === undefined) continue;
    await to.store.transact(async (tx) => {
      for (const { key, value } of page) tx.put(key, value);
      tx.put(copyMarkKey(), encodeMark({ ...mark, key: last.key }));
    });
    copied += page.length;
    progress.add({ items: page.length });
  }
  return copied;
}

async function compareExtents(
  { from, to, progress }: CopyOptions,
  extents: readonly ExtentSize[],
): Promise<void> {
  for (const each of extents) {
    const count = (bytes: number): void => progress.add({ bytes });
    if (each.bytes === 0 || (await isSameExtent(from.files, to.files, each, count))) continue;
    throw new Error(`extent ${each.extent} differs from its source: empty the target, copy again`);
  }
}

/** Compares the records of both sides and returns their number. Compares entry by entry, because
 *  page boundaries may differ between the sides. */
async function compareRecords({ from, to, progress }: CopyOptions): Promise<number> {
  const nothing = new Uint8Array(0);
  const [left, right] = [from, to].map(({ store }) => entriesOf(recordPages(store, nothing)));
  if (left === undefined || right === undefined) throw new Error("two entry streams required");
  for (let count = 0; ; count += 1) {
    const [one, other] = await Promise.all([left.next(), right.next()]);
    if (one.done === true && other.done === true) return count;
    if (one.done === true || other.done === true || !isSame(one.value, other.value)) {
      throw new Error("records differ from their source: empty the target and copy again");
    }
    progress.add({ items: 1 });
  }
}

async function* entriesOf(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry> {
  for await (const page of pages) yield* page;
}

function isSame(one: Entry, other: Entry): boolean {
  return Buffer.compare(one.key, other.key) === 0 && Buffer.compare(one.value, other.value) === 0;
}

/** Bytes of an extent that are in memory at a time; twice as many while two extents are
 *  compared. */
const pieceBytesMax = 4 * 1024 * 1024;
const pageMax = 256;

interface ExtentSize {
  readonly extent: bigint;
  readonly stretches: readonly ExtentRange[];
  readonly bytes: number;
}

/** All extents that records refer to, in ascending order. */
async function extentSizes(store: Store, files: ExtentFiles): Promise<readonly ExtentSize[]> {
  const found: ExtentSize[] = [];
  let page: readonly ExtentState[];
  do {
    const after = found.at(-1)?.extent ?? 0n;
    page = await store.snapshot((view) => listExtents(view, after, pageMax));
    for (const { extent } of page) {
      const stretches = (await files.ranges?.(extent)) ?? (await wholeExtent(files, extent));
      const bytes = stretches.reduce((sum, { length }) => sum + length, 0);
      found.push({ extent, stretches, bytes });
    }
  } while (page.length === pageMax);
  return found;
}

async function wholeExtent(files: ExtentFiles, extent: bigint): Promise<readonly ExtentRange[]> {
  const length = await files.size(extent);
  return length === 0 ? [] : [{ offset: 0, length }];
}

/** Copies an extent, and replaces an incomplete one that an interrupted copy left in the target. */
async function copyExtent(
  from: ExtentFiles,
  to: ExtentFiles,
  { extent, stretches }: ExtentSize,
  onBytes: (count: number) => void,
): Promise<void> {
  await to.remove(extent);
  const source = await from.open(extent);
  const target = await to.create(extent);
  try {
    for (const { offset, length } of pieces(stretches)) {
      const bytes = await readPiece(source, { offset, length });
      await target.write(bytes, offset);
      onBytes(length);
    }
    await target.sync();
  } finally {
    await source.close();
    await target.close();
  }
}

/** Whether both sides have the same bytes in an extent. */
async function isSameExtent(
  from: ExtentFiles,
  to: ExtentFiles,
  { extent, stretches }: ExtentSize,
  onBytes: (count: number) => void,
): Promise<boolean> {
  const source = await from.open(extent);
  const target = await to.open(extent);
  try {
    for (const piece of pieces(stretches)) {
      const read = (file: ExtentFile) => readPiece(file, piece);
      const [one, other] = await Promise.all([source, target].map(read));
      if (one === undefined || other === undefined || Buffer.compare(one, other) !== 0) {
        return false;
      }
      onBytes(piece.length);
    }
    return true;
  } finally {
    await source.close();
    await target.close();
  }
}

async function readPiece(file: ExtentFile, { offset, length }: ExtentRange): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  await file.read(bytes, offset);
  return bytes;
}

function* pieces(stretches: readonly ExtentRange[]): Generator<ExtentRange> {
  for (const { offset, length } of stretches) {
    for (let done = 0; done < length; done += pieceBytesMax) {
      yield { offset: offset + done, length: Math.min(pieceBytesMax, length - done) };
    }
  }
}
