import type { Slice } from "./content-ref.ts";
import type { Log } from "../base/world.ts";
import { combineCrc64, crc64Of, crc64OfNothing } from "./crc64.ts";
import type { ExtentWriter, Region } from "./extent-writer.ts";
import type { ExtentFileCache } from "./extent-file-cache.ts";
import type { Stretch } from "./regions.ts";
import { trim } from "./slices.ts";

const copyBytes = 256 * 1024;
/** One round copies about this much, so that it does not take the disk for long. */
const copiedPerRoundMax = 64 * 1024 * 1024;

interface Placed extends Stretch {
  readonly to: Region;
}

/** Where stretches of an old extent lie now. */
export interface Copied {
  readonly stretches: readonly Placed[];
  readonly regions: readonly Region[];
  /** The slice at its new place, in several pieces if its copy is; as it is if it has none. */
  move(slice: Slice): readonly Slice[];
}

export interface CopyParts {
  readonly handles: ExtentFileCache;
  readonly writer: ExtentWriter;
  readonly log: Log;
}

/** Copies what the slices refer to, each byte once however many share it. */
export async function copyRanges(
  { handles, writer, log }: CopyParts,
  extent: bigint,
  slices: readonly Slice[],
): Promise<Copied> {
  const placed: Placed[] = [];
  const damaged = await damagedSlices(handles, extent, slices);
  if (damaged.length > 0) {
    const fields = { extent: String(extent), slices: damaged.length };
    log.error(fields, "stored bytes differ from their checksum");
  }
  const sound = slices.filter((slice) => !damaged.includes(slice));
  let budget = copiedPerRoundMax;
  try {
    for (const stretch of unionOf(sound)) {
      if (budget <= 0) break;
      for (let done = 0; done < stretch.length;) {
        const from = { offset: stretch.offset + done, length: stretch.length - done };
        const region = await writer.reserve(from.length);
        placed.push({ offset: from.offset, length: region.length, to: region });
        await copyBytesTo(handles, writer, { extent, offset: from.offset, region });
        done += region.length;
        budget -= region.length;
      }
    }
    await writer.sync(placed.map(({ to }) => to.extent));
  } catch (error) {
    for (const { to } of placed) writer.freeRegion(to);
    throw error;
  }
  const regions = placed.map(({ to }) => to);
  return { stretches: placed, regions, move: (slice) => moveSlice(placed, slice) };
}

function moveSlice(placed: readonly Placed[], slice: Slice): readonly Slice[] {
  const { source } = slice;
  if (!("extent" in source)) return [slice];
  const moved: Slice[] = [];
  let done = 0;
  for (const { offset, length, to } of placed) {
    const at = source.offset + done;
    if (done === slice.length || offset > at || at >= offset + length) continue;
    const count = Math.min(slice.length - done, offset + length - at);
    const part = trim(slice, { from: slice.at + done, to: slice.at + done + count });
    const place = { extent: to.extent, offset: to.offset + at - offset };
    moved.push({ ...part, source: { ...part.source, ...place } });
    done += count;
  }
  return done === slice.length ? moved : [slice];
}

function unionOf(slices: readonly Slice[]): Stretch[] {
  const stretches = slices
    .flatMap(({ source, length }) =>
      "extent" in source ? [{ offset: source.offset, length }] : [],
    )
    .toSorted((a, b) => a.offset - b.offset);
  const union: Stretch[] = [];
  for (const next of stretches) {
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
  handles: ExtentFileCache,
  writer: ExtentWriter,
  { extent, offset, region }: { extent: bigint; offset: number; region: Region },
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(copyBytes, region.length));
  for (let done = 0; done < region.length;) {
    const part = buffer.subarray(0, Math.min(buffer.length, region.length - done));
    await handles.read(extent, part, offset + done);
    await writer.write(region, part, done);
    done += part.length;
  }
}

/** A damaged stretch stays where it is: copying it would make the damage look sound. */
async function damagedSlices(
  handles: ExtentFileCache,
  extent: bigint,
  slices: readonly Slice[],
): Promise<readonly Slice[]> {
  const damaged: Slice[] = [];
  for (const slice of slices) {
    const { source, length } = slice;
    if (!("extent" in source) || source.crc64 === undefined) continue;
    const found = await crcOfStretch(handles, extent, { offset: source.offset, length });
    if (found !== source.crc64) damaged.push(slice);
  }
  return damaged;
}

/** Of what lies there now. */
export async function crcOfStretch(
  handles: ExtentFileCache,
  extent: bigint,
  stretch: Stretch,
): Promise<bigint> {
  let crc = crc64OfNothing;
  const buffer = Buffer.allocUnsafeSlow(Math.min(copyBytes, stretch.length));
  for (let done = 0; done < stretch.length;) {
    const part = buffer.subarray(0, Math.min(buffer.length, stretch.length - done));
    await handles.read(extent, part, stretch.offset + done);
    crc = combineCrc64(crc, crc64Of(part), part.length);
    done += part.length;
  }
  return crc;
}
