import { add, remove, type Effect } from "../../operation/effects.ts";
import type { ContentPlan } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import {
  blockCounter,
  committedBlocks,
  findUpload,
  piecesOf,
  type UploadLookup,
} from "../block/read-blocks.ts";
import { blocks, type BlobKey, type BlobRecord, type UploadRecord } from "../records.ts";
import { dropUpload } from "../shared/overwrite.ts";
import { planFlush, type AppendedData } from "./appended-data.ts";

/** What a flush finds beside the file. */
export interface Appended {
  readonly staged: UploadLookup;
  readonly data: readonly AppendedData[];
  /** The file was written by blocks of the Blob API. */
  readonly hasBlocks: boolean;
}

export async function readAppended(
  view: RecordView,
  { key, target }: { readonly key: BlobKey; readonly target: BlobRecord },
): Promise<Appended> {
  const staged = await findUpload(view, key);
  const data = staged.live === undefined ? [] : await readData(view, staged.live);
  return { staged, data, hasBlocks: await isOfBlocks(view, target) };
}

async function readData(view: RecordView, { id: upload }: UploadRecord): Promise<AppendedData[]> {
  const data: AppendedData[] = [];
  for await (const batch of view.scan(blocks, blocks.range([upload]))) {
    for (const { key, record } of batch) {
      const { content, position } = record;
      if (position === undefined) continue;
      const id = blocks.parts(key)[1] as string;
      const part = { pieces: await piecesOf(view, content) };
      data.push({ id, position, length: content.length, part });
    }
  }
  return data;
}

async function isOfBlocks(view: RecordView, target: BlobRecord): Promise<boolean> {
  if (target.type !== "BlockBlob") return true;
  if (target.writtenBy === "dfs") return false;
  for await (const batch of committedBlocks(view, target.content)) return batch.length > 0;
  return false;
}

export interface Commit {
  readonly target: BlobRecord;
  readonly appended: Appended;
  /** Of the file afterwards. */
  readonly length: number;
  /** Whether appended data beyond that length stays. */
  readonly keeps: boolean;
}

interface Committed {
  readonly put: BlobRecord;
  readonly content?: ContentPlan;
  readonly effects: readonly Effect[];
}

/** Makes appended data the content of its file, all of it in the transaction that decides. */
export function commitAppended(
  key: BlobKey,
  { target, appended, length, keeps }: Commit,
): Result<Committed> {
  const { staged, data, hasBlocks } = appended;
  if (target.directory !== undefined) return fail("PathConflict");
  const isOfBlobApi = hasBlocks || (staged.live?.blockIdLength ?? 0) > 0;
  if (isOfBlobApi) return fail("InvalidFlushOperation");
  const plan = planFlush(target.content, data, length);
  if (!plan.ok) return plan;
  const { content, beyond } = plan.value;
  const hasRest = keeps && beyond.length > 0 && staged.live !== undefined;
  const effects = hasRest
    ? removeCommitted(staged.live, data, beyond)
    : dropUpload(key, staged.stored);
  const headers =
    content === undefined ? target.headers : { ...target.headers, contentMd5: undefined };
  const put: BlobRecord = { ...target, headers, writtenBy: "dfs" };
  return ok({ put, ...(content !== undefined && { content }), effects });
}

function removeCommitted(
  { id: upload }: UploadRecord,
  data: readonly AppendedData[],
  beyond: readonly AppendedData[],
): readonly Effect[] {
  const kept = new Set(beyond);
  const gone = data.filter((each) => !kept.has(each));
  return [
    ...gone.map(({ id }) => remove(blocks, { upload, id })),
    add(blockCounter(upload), BigInt(-gone.length)),
  ];
}
