import type { ContentRef, Slice, SliceSourceOfLength } from "../../core/content-ref.ts";
import { encodeTaggedKey } from "../../core/keys.ts";
import { ticksPerDay, type Ticks } from "../../core/ticks.ts";
import type { RecordView } from "../../core/view.ts";
import { blocks, uploads, type BlobKey, type UploadRecord } from "../records.ts";
import { uncommittedLifetimeDays } from "../shared/limits.ts";

const lifetime = BigInt(uncommittedLifetimeDays) * ticksPerDay;
const blockCountTag = 0x26;

/** How many blocks an upload holds, counted without conflicts between parallel Put Blocks. */
export function blockCounter(upload: bigint): Uint8Array {
  return encodeTaggedKey(blockCountTag, [upload]);
}

export interface Staged {
  /** What is there, even if its week is over. */
  readonly stored: UploadRecord | undefined;
  readonly live: UploadRecord | undefined;
}

export async function findUpload(view: RecordView, key: BlobKey): Promise<Staged> {
  const stored = await view.get(uploads, key);
  const live = stored !== undefined && isLive(stored, view.now) ? stored : undefined;
  return { stored, live };
}

export function isLive(upload: UploadRecord, now: Ticks): boolean {
  return now < uploadEnds(upload);
}

export function uploadEnds({ touched }: UploadRecord): Ticks {
  return touched + lifetime;
}

export interface StagedBlock {
  readonly id: string;
  readonly length: number;
  readonly content: ContentRef;
  readonly keySha256?: Uint8Array | undefined;
}

/** Sorted by id, as the service lists them. */
export async function stagedBlocks(
  view: RecordView,
  upload: UploadRecord | undefined,
): Promise<readonly StagedBlock[]> {
  if (upload === undefined) return [];
  const found: StagedBlock[] = [];
  for await (const batch of view.scan(blocks, blocks.range([upload.id]))) {
    for (const { key, record } of batch) {
      const id = blocks.parts(key)[1] as string;
      const { content, keySha256 } = record;
      found.push({ id, length: content.length, content, keySha256 });
    }
  }
  return found;
}

export interface CommittedBlock {
  readonly id: string;
  readonly length: number;
  readonly pieces: readonly SliceSourceOfLength[];
}

/** In the order of the blob; none for a blob that was put whole. */
export async function committedBlocks(
  view: RecordView,
  content: ContentRef | undefined,
): Promise<readonly CommittedBlock[]> {
  if (content === undefined || content.kind === "inline") return [];
  const found: { id: string; length: number; pieces: SliceSourceOfLength[] }[] = [];
  for await (const batch of view.slices(content, 0, content.length)) {
    for (const slice of batch) addSlice(found, slice);
  }
  return found;
}

function addSlice(
  found: { id: string; length: number; pieces: SliceSourceOfLength[] }[],
  { block, length, source }: Slice,
): void {
  if (block !== undefined) found.push({ id: block, length: 0, pieces: [] });
  const last = found.at(-1);
  if (last === undefined) return;
  last.length += length;
  last.pieces.push({ length, source });
}

/** The pieces of a staged block, whatever form its content has. */
export async function piecesOf(
  view: RecordView,
  content: ContentRef,
): Promise<readonly SliceSourceOfLength[]> {
  if (content.kind === "inline") {
    return [{ length: content.length, source: { bytes: content.bytes } }];
  }
  const pieces: SliceSourceOfLength[] = [];
  for await (const batch of view.slices(content, 0, content.length)) {
    for (const { length, source } of batch) pieces.push({ length, source });
  }
  return pieces;
}
