import type { ExtentFile, ExtentFiles } from "../../content/extent-files.ts";
import { listExtents, type ExtentState } from "../../content/extent-table.ts";
import type { ExtentRange } from "../../content/regions.ts";
import type { Store } from "../../store/store.ts";

/** Bytes of an extent that are in memory at a time; twice as many while two extents are
 *  compared. */
const pieceBytesMax = 4 * 1024 * 1024;
const pageMax = 256;

export interface ExtentSize {
  readonly extent: bigint;
  readonly stretches: readonly ExtentRange[];
  readonly bytes: number;
}

/** All extents that records refer to, in ascending order. */
export async function extentSizes(
  store: Store,
  files: ExtentFiles,
): Promise<readonly ExtentSize[]> {
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
export async function copyExtent(
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
export async function isSameExtent(
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
