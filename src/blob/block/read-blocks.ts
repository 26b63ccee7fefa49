import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import type { ContentRef, SliceSourceOfLength } from "../../content/content-ref.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { blocks, uploadEnds, uploads, type BlobKey, type UploadRecord } from "../records.ts";

/** Reads the blocks of a blob: uncommitted ones from the table `blocks`, committed ones from the
 *  slices of the content. Put Block List, Get Block List and the flush of the Data Lake API use
 *  it. */

/** What was found of the upload of a blob. An upload has the uncommitted blocks or appended data,
 *  until they are committed or expire a week after the last one. */
export interface UploadLookup {
  /** The stored record, even if the upload has ended; undefined if there is none. */
  readonly stored: UploadRecord | undefined;
  // The stored record; undefined if there is none or if the upload has ended.
  readonly live: UploadRecord | undefined;
}

/** Where the upload of a blob is stored, and the upload itself if it was loaded with the blob. */
export interface UploadPlace {
  readonly key: BlobKey;
  readonly upload?: UploadLookup | undefined;
}

export function findUpload(view: RecordView, place: UploadPlace): Awaitable<UploadLookup> {
  if (place.upload !== undefined) return place.upload;
  return mapAwaitable(view.get(uploads, place.key), (stored) => {
    const live = stored !== undefined && isLive(stored, view.now) ? stored : undefined;
    return { stored, live };
  });
}

/** Returns the stored record of the upload of a blob, even if the upload has ended: operations that
 *  replace the blob remove it. */
export function storedUpload(
  view: RecordView,
  { key, upload }: UploadPlace,
): Awaitable<UploadRecord | undefined> {
  return upload === undefined ? view.get(uploads, key) : upload.stored;
}

export function isLive(upload: UploadRecord, now: Ticks): boolean {
  return now < uploadEnds(upload);
}

interface StagedBlock {
  readonly id: string;
  readonly length: number;
  readonly content: ContentRef;
  // SHA-256 of the customer-provided key with which the bytes are encrypted; undefined without one.
  readonly keySha256?: Uint8Array | undefined;
  readonly encryptionScope?: string | undefined;
}

/** Reads uncommitted blocks in batches, sorted by id as Get Block List returns them. */
export async function* stagedBlocks(
  view: RecordView,
  upload: UploadRecord | undefined,
): AsyncIterable<readonly StagedBlock[]> {
  if (upload === undefined) return;
  for await (const batch of view.scan(blocks, blocks.range([upload.id]))) {
    yield batch.map(({ key, record: { content, keySha256, encryptionScope } }) => {
      const id = blocks.parts(key)[1] as string;
      return { id, length: content.length, content, keySha256, encryptionScope };
    });
  }
}

/** A committed block, and the slices (stored ranges of bytes) of its content. */
interface CommittedBlock {
  readonly id: string;
  readonly length: number;
  readonly pieces: readonly SliceSourceOfLength[];
}

interface PartialBlock extends CommittedBlock {
  length: number;
  readonly pieces: SliceSourceOfLength[];
}

/** Reads the committed blocks of a blob in batches, in the order of the block list. A blob that was
 *  written by Put Blob has none. */
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

/** The slices (stored ranges of bytes) of an uncommitted block, of which Put Block List makes the
 *  content of the blob. */
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
