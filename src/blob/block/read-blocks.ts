import type { ContentRef, SliceSourceOfLength } from "../../content/content-ref.ts";
import { encodeTaggedKey } from "../../encoding/keys.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { blocks, uploads, type BlobKey, type UploadRecord } from "../records.ts";
import { uncommittedLifetimeDays } from "../shared/limits.ts";

const uploadLifetime = BigInt(uncommittedLifetimeDays) * ticksPerDay;
const blockCountTag = 0x26;

/** Key of the number of blocks of an upload. A counter, so that parallel Put Blocks do not
 *  conflict. */
export function blockCounter(upload: bigint): Uint8Array {
  return encodeTaggedKey(blockCountTag, [upload]);
}

export interface UploadLookup {
  /** The stored record, even if expired. */
  readonly stored: UploadRecord | undefined;
  readonly live: UploadRecord | undefined;
}

export async function findUpload(view: RecordView, key: BlobKey): Promise<UploadLookup> {
  const stored = await view.get(uploads, key);
  const live = stored !== undefined && isLive(stored, view.now) ? stored : undefined;
  return { stored, live };
}

export function isLive(upload: UploadRecord, now: Ticks): boolean {
  return now < uploadEnds(upload);
}

export function uploadEnds({ touched }: UploadRecord): Ticks {
  return touched + uploadLifetime;
}

export interface StagedBlock {
  readonly id: string;
  readonly length: number;
  readonly content: ContentRef;
  readonly keySha256?: Uint8Array | undefined;
}

/** Reads uncommitted blocks in batches, sorted by id as in the service's listing. */
export async function* stagedBlocks(
  view: RecordView,
  upload: UploadRecord | undefined,
): AsyncIterable<readonly StagedBlock[]> {
  if (upload === undefined) return;
  for await (const batch of view.scan(blocks, blocks.range([upload.id]))) {
    yield batch.map(({ key, record: { content, keySha256 } }) => {
      const id = blocks.parts(key)[1] as string;
      return { id, length: content.length, content, keySha256 };
    });
  }
}

export interface CommittedBlock {
  readonly id: string;
  readonly length: number;
  readonly pieces: readonly SliceSourceOfLength[];
}

interface PartialBlock extends CommittedBlock {
  length: number;
  readonly pieces: SliceSourceOfLength[];
}

/** Reads committed blocks in batches, in blob order. A blob from Put Blob has none. */
export async function* committedBlocks(
  view: RecordView,
  content: ContentRef | undefined,
): AsyncIterable<readonly CommittedBlock[]> {
  if (content === undefined || content.kind === "inline") return;
  let last: PartialBlock | undefined;
  for await (const batch of view.slices(content, 0, content.length)) {
    const ended: CommittedBlock[] = [];
    for (const { block, length, source } of batch) {
      if (block !== undefined) {
        if (last !== undefined) ended.push(last);
        last = { id: block, length: 0, pieces: [] };
      }
      if (last === undefined) continue;
      last.length += length;
      last.pieces.push({ length, source });
    }
    if (ended.length > 0) yield ended;
  }
  if (last !== undefined) yield [last];
}

/** Returns the slices of an uncommitted block. */
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
