import type { Slice } from "../content-ref.ts";
import type { Log } from "../../base/world.ts";
import { combineCrc64, crc64Of, crc64OfNothing } from "../body/checksums.ts";
import type { ExtentWriter, Region } from "../extents/extent-writer.ts";
import type { ExtentFileCache } from "../extents/extent-file-cache.ts";
import { ContentDamaged } from "../extents/extent-files.ts";
import type { ExtentRange } from "../extents/regions.ts";
import { trim } from "./slices.ts";

/** Copies live bytes of an extent to another one, for compaction (`content/reclaim/compaction.ts`),
 *  after it has compared them with their checksums. */

/** Bytes that are read and written at a time: the size of a buffer. */
const copyBytes = 256 * 1024;
/** No further range is copied after this many bytes, so that a round of compaction ends soon. */
const roundBytesMax = 64 * 1024 * 1024;

interface CopiedRange extends ExtentRange {
  readonly to: Region;
}

/** Which ranges of an extent were copied, and the regions (reserved bytes) that have them now. */
export interface CopyResult {
  readonly ranges: readonly CopiedRange[];
  readonly regions: readonly Region[];
  /** Returns the slice with its new location: as several slices if its copy is in several regions
   *  or only its end was copied, unchanged if it was not copied. */
  move(slice: Slice): readonly Slice[];
}

interface CopyParts {
  readonly fileCache: ExtentFileCache;
  readonly writer: ExtentWriter;
  readonly log: Log;
}

/** Where the bytes go if not to the extent of new bodies: to the spare space, on a full disk. */
export interface CopyTarget {
  /** Offset in the extent of the first byte to copy. */
  readonly from: number;
  reserve(length: number): Promise<Region>;
}

/** Copies the bytes of slices of one extent; bytes that several slices share are copied once.
 *  Damaged slices are left where they are and logged. */
export async function copyRanges(
  { fileCache, writer, log }: CopyParts,
  extent: bigint,
  slices: readonly Slice[],
  target: CopyTarget = { from: 0, reserve: (length) => writer.reserve(length) },
): Promise<CopyResult> {
  const copied: CopiedRange[] = [];
  const damaged = await damagedSlices(fileCache, extent, slices);
  if (damaged.length > 0) {
    const fields = { extent: String(extent), slices: damaged.length };
    log.error(
      fields,
      "stored bytes differ from their checksum and are not copied: run etagere check",
    );
  }
  // A part of a slice has no checksum, so a copied part of a damaged slice would count as intact.
  const isRefused = target.from > 0 && damaged.length > 0;
  const intact = isRefused ? [] : slices.filter((slice) => !damaged.includes(slice));
  let budget = roundBytesMax;
  try {
    for (const range of rangesFrom(unionOf(intact), target.from)) {
      if (budget <= 0) break;
      for (let done = 0; done < range.length;) {
        const from = { offset: range.offset + done, length: range.length - done };
        const region = await target.reserve(from.length);
        copied.push({ offset: from.offset, length: region.length, to: region });
        await copyBytesTo(fileCache, writer, { extent, offset: from.offset, region });
        done += region.length;
        budget -= region.length;
      }
    }
    await writer.sync(copied.map(({ to }) => to.extent));
  } catch (error) {
    for (const { to } of copied) writer.freeRegion(to);
    throw error;
  }
  const regions = copied.map(({ to }) => to);
  return { ranges: copied, regions, move: (slice) => moveSlice(copied, target.from, slice) };
}

/** The slices that replace a slice after the copy. Its bytes before `copiedFrom` stay where they
 *  are. Returns it unchanged if not all others were copied. */
function moveSlice(
  copied: readonly CopiedRange[],
  copiedFrom: number,
  slice: Slice,
): readonly Slice[] {
  const { source } = slice;
  if (!("extent" in source)) return [slice];
  const kept = Math.min(slice.length, Math.max(0, copiedFrom - source.offset));
  const moved: Slice[] = [];
  if (kept > 0) moved.push(trim(slice, { from: slice.at, to: slice.at + kept }));
  let done = kept;
  for (const { offset, length, to } of copied) {
    const at = source.offset + done;
    if (done === slice.length || offset > at || at >= offset + length) continue;
    const count = Math.min(slice.length - done, offset + length - at);
    const part = trim(slice, { from: slice.at + done, to: slice.at + done + count });
    const target = { extent: to.extent, offset: to.offset + at - offset };
    moved.push({ ...part, source: { ...part.source, ...target } });
    done += count;
  }
  return done === slice.length ? moved : [slice];
}

function rangesFrom(ranges: readonly ExtentRange[], from: number): readonly ExtentRange[] {
  return ranges.flatMap(({ offset, length }) => {
    const start = Math.max(offset, from);
    return start < offset + length ? [{ offset: start, length: offset + length - start }] : [];
  });
}

function unionOf(slices: readonly Slice[]): ExtentRange[] {
  const ranges = slices
    .flatMap(({ source, length }) =>
      "extent" in source ? [{ offset: source.offset, length }] : [],
    )
    .toSorted((a, b) => a.offset - b.offset);
  const union: ExtentRange[] = [];
  for (const next of ranges) {
    const last = union.at(-1);
    if (last === undefined || next.offset > last.offset + last.length) union.push(next);
    else {
      const end = Math.max(last.offset + last.length, next.offset + next.length);
      union[union.length - 1] = { offset: last.offset, length: end - last.offset };
    }
  }
  return union;
}

async function copyBytesTo(
  fileCache: ExtentFileCache,
  writer: ExtentWriter,
  { extent, offset, region }: { extent: bigint; offset: number; region: Region },
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(copyBytes, region.length));
  for (let done = 0; done < region.length;) {
    const part = buffer.subarray(0, Math.min(buffer.length, region.length - done));
    await fileCache.read(extent, part, offset + done);
    await writer.write(region, part, done);
    done += part.length;
  }
}

/** Returns the slices whose bytes differ from their checksum. They are not copied: the only copy
 *  that a repair could use would be deleted. */
async function damagedSlices(
  fileCache: ExtentFileCache,
  extent: bigint,
  slices: readonly Slice[],
): Promise<readonly Slice[]> {
  const damaged: Slice[] = [];
  for (const slice of slices) {
    const { source, length } = slice;
    if (!("extent" in source) || source.crc64 === undefined) continue;
    const range = { offset: source.offset, length };
    const found = await crcOfRange(fileCache, extent, range).catch(ifDamaged);
    if (found !== source.crc64) damaged.push(slice);
  }
  return damaged;
}

/** Handles the error of encrypted extents and buckets, which verify bytes themselves: undefined is
 *  no valid checksum. Rethrows any other error. */
function ifDamaged(error: unknown): undefined {
  if (!(error instanceof ContentDamaged)) throw error;
  return undefined;
}

/** The CRC64 of a range as it is stored now, for compaction and audits. */
export async function crcOfRange(
  fileCache: ExtentFileCache,
  extent: bigint,
  range: ExtentRange,
): Promise<bigint> {
  let crc = crc64OfNothing;
  const buffer = Buffer.allocUnsafeSlow(Math.min(copyBytes, range.length));
  for (let done = 0; done < range.length;) {
    const part = buffer.subarray(0, Math.min(buffer.length, range.length - done));
    await fileCache.read(extent, part, range.offset + done);
    crc = combineCrc64(crc, crc64Of(part), part.length);
    done += part.length;
  }
  return crc;
}
