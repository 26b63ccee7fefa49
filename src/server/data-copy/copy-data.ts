import { claimFiles } from "../../content/claim.ts";
import type { ExtentFiles } from "../../content/extent-files.ts";
import { copyMarkKey } from "../../content/tables.ts";
import type { Random } from "../../base/world.ts";
import type { Entry, Store } from "../../store/store.ts";
import { copyExtent, extentSizes, isSameExtent, type ExtentSize } from "./copy-extents.ts";
import { beginCopy, encodeMark, endCopy, type CopyMark } from "./copy-mark.ts";
import { recordPages } from "./record-pages.ts";

/** Source or target of a copy. */
export interface CopySide {
  readonly store: Store;
  readonly files: ExtentFiles;
}

export interface CopyOptions {
  readonly from: CopySide;
  readonly to: CopySide;
  /** Identifies the source, so that an interrupted copy continues only from the same source. */
  readonly fromName: string;
  readonly random: Random;
  readonly progress: Progress;
}

export interface Progress {
  /** Begins a step of the copy. `total` is in bytes; undefined if unknown. */
  begin(what: string, total: number | undefined): void;
  add(count: number): void;
}

export interface CopyReport {
  readonly extents: number;
  readonly bytes: number;
  readonly records: number;
}

const storeIdBytes = 16;

/**
 * Copies a store: contents first, so that no record ever refers to missing bytes, then records.
 * Then compares every byte and record with the source. The mark of the copy in the target
 * (`copy-mark.ts`) is removed last: until then no server opens the target, and an interrupted copy
 * continues from the mark.
 */
export async function copyData(options: CopyOptions): Promise<CopyReport> {
  const { from, to, random, progress } = options;
  const sequence = await sequenceOf(from.store);
  if (await isEmpty(from.store)) throw new Error("the source is empty");
  const mark = await beginCopy(to.store, options.fromName);
  await claimFiles(to.store, to.files, () =>
    Buffer.from(random.bytes(storeIdBytes)).toString("hex"),
  );
  const extents = await extentSizes(from.store, from.files);
  const bytes = extents.reduce((sum, each) => sum + each.bytes, 0);
  const reached = await copyExtents(options, mark, extents);
  await copyRecords(options, reached);
  progress.begin("comparing bytes", bytes);
  await compareExtents(options, extents);
  progress.begin("comparing records", 0);
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
  progress.begin(
    "copying bytes",
    left.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  let reached = mark;
  for (const each of left) {
    await copyExtent(from.files, to.files, each, (count) => progress.add(count));
    reached = { ...reached, extent: each.extent };
    const value = encodeMark(reached);
    await to.store.transact(async (tx) => tx.put(copyMarkKey(), value));
  }
  return reached;
}

async function copyRecords({ from, to, progress }: CopyOptions, mark: CopyMark): Promise<void> {
  progress.begin("copying records", 0);
  for await (const page of recordPages(from.store, mark.key)) {
    const last = page.at(-1);
    if (last === undefined) continue;
    await to.store.transact(async (tx) => {
      for (const { key, value } of page) tx.put(key, value);
      tx.put(copyMarkKey(), encodeMark({ ...mark, key: last.key }));
    });
    progress.add(page.length);
  }
}

async function compareExtents(
  { from, to, progress }: CopyOptions,
  extents: readonly ExtentSize[],
): Promise<void> {
  for (const each of extents) {
    const count = (bytes: number): void => progress.add(bytes);
    if (each.bytes === 0 || (await isSameExtent(from.files, to.files, each, count))) continue;
    throw new Error(`extent ${each.extent} differs from its source: empty the target, copy again`);
  }
}

/** Compares entry by entry, because page boundaries may differ between the two sides. */
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
    progress.add(1);
  }
}

async function* entriesOf(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry> {
  for await (const page of pages) yield* page;
}

function isSame(one: Entry, other: Entry): boolean {
  return Buffer.compare(one.key, other.key) === 0 && Buffer.compare(one.value, other.value) === 0;
}
