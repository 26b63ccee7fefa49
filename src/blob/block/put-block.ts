import { whole, emptyContent, type ReceivedBody } from "../../content/content-ref.ts";
import { add, periodJob, put, reclaimOwned, type Effect } from "../../operation/effects.ts";
import { encryption, type Encryption } from "../../protocol/encryption.ts";
import { fail, ok } from "../../protocol/result.ts";
import { overwriteNeed } from "../../protocol/roles/action-need.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { chooseEncryption, encryptionHeaders, bodyChecksum } from "../shared/create-blob.ts";
import {
  blockCount,
  blocks,
  uploads,
  type BlobKey,
  type BlobRecord,
  type UploadRecord,
} from "../records.ts";
import { operation, type ContainerScope } from "../resources.ts";
import { uncommittedBlocksMax, putBlockBytesMax, blockIdBytesMax } from "../shared/limits.ts";
import { findUpload, type UploadLookup, type UploadPlace } from "./read-blocks.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { blobKey } from "../shared/overwrite.ts";
import { partBody, partRoute, partSource } from "../shared/write-part.ts";
import { base64ByteLength } from "../../base/base64.ts";
import { invalidQuery, missingQuery } from "../../protocol/faults.ts";
import type { Param } from "../../protocol/params.ts";
import { blobChange } from "../blob-policy.ts";

/** Put Block, with the bytes in the request or at a URL: stores an uncommitted block, which Put
 *  Block List can make a part of the blob. Append Data of the Data Lake API stores large appends in
 *  the same way. */

const blockIdUnitsMax = Math.ceil(blockIdBytesMax / 3) * 4;

/** Whether the text is base64 of at most 64 bytes, as block ids must be. */
export function isBlockId(id: string): boolean {
  if (id.length > blockIdUnitsMax) return false;
  const bytes = base64ByteLength(id);
  return bytes !== undefined && bytes > 0 && bytes <= blockIdBytesMax;
}

const blockId: Param<string> = {
  sources: ["?blockid"],
  parse: (reader) => {
    const id = reader.query("blockid");
    if (id === undefined || id === "") return missingQuery("blockid");
    return isBlockId(id) ? ok(id) : invalidQuery("blockid", id, "Not a valid base64 string.");
  },
};

/** Put Block writes `touched` (the time of the last block) of an upload at most once in this time.
 *  If every Put Block wrote it, concurrent ones would conflict. */
export const touchIntervalTicks = 3600n * ticksPerSecond;

/** The permission of operations on blocks. For a new blob, a SAS with the permission to create
 *  suffices; a role must grant writing. */
export const blockPermission = {
  letters: "cw",
  resourceType: "o",
  overwrite: true,
  actions: overwriteNeed,
} as const;

/** What Put Block reads about the upload that the new block is added to. */
interface StagingState {
  readonly staged: UploadLookup;
  /** Whether the upload has an uncommitted block with the same id, which the new one replaces. */
  readonly replaces: boolean;
  /** Number of uncommitted blocks of the upload, which Azure limits. */
  readonly count: bigint;
}

export async function readStagingState(
  view: RecordView,
  scope: UploadPlace,
  id: string,
): Promise<StagingState> {
  const staged = await findUpload(view, scope);
  const upload = staged.live;
  const block = upload && (await view.get(blocks, { upload: upload.id, id }));
  const count = upload === undefined ? 0n : await view.count(blockCount.key(upload.id));
  return { staged, replaces: block !== undefined, count };
}

/** The length of the uncommitted block that a new one with the same id replaces, for the quota. */
async function replacedBytes(view: RecordView, scope: UploadPlace, id: string): Promise<number> {
  const { live: upload } = await findUpload(view, scope);
  const block = upload && (await view.get(blocks, { upload: upload.id, id }));
  return block?.content.length ?? 0;
}

interface StageBlockContext {
  readonly target: BlobRecord | undefined;
  readonly readResult: StagingState;
  readonly blockId: string;
  readonly received: ReceivedBody;
  readonly scope: Pick<ContainerScope, "container">;
  readonly input: { readonly encryption: Encryption };
  readonly version: string;
  readonly now: Ticks;
  readonly newId: () => bigint;
}

/** The decision of Put Block and Put Block From URL: adds an uncommitted block to the upload of the
 *  blob, or replaces one. */
export function stageBlock(
  key: BlobKey,
  { target, readResult, blockId: id, ...staging }: StageBlockContext,
) {
  const { received, now, newId, scope, input, version } = staging;
  if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
  if (target?.writtenBy === "dfs") return fail("BlobOperationNotSupported");
  const idLength = readResult.staged.live?.blockIdLength;
  if (idLength !== undefined && idLength !== id.length) return fail("InvalidBlobOrBlock");
  if (!readResult.replaces && readResult.count >= BigInt(uncommittedBlocksMax)) {
    return fail("BlockCountExceedsLimit");
  }
  const encryptedWith = chooseEncryption(input.encryption, scope.container);
  if (!encryptedWith.ok) return encryptedWith;
  const options = { now, newId, blockIdLength: id.length };
  const opened = openUpload(key, readResult.staged, options);
  const at = { upload: opened.upload.id, id };
  const record = { content: emptyContent, ...encryptedWith.value };
  const block = put(blocks, at, record, whole(received));
  const counted = readResult.replaces ? [] : [add(blockCount.key(opened.upload.id), 1n)];
  return {
    effects: [...opened.effects, block, ...counted],
    headers: {
      ...bodyChecksum(received, version),
      ...encryptionHeaders(encryptedWith.value),
      "x-ms-request-server-encrypted": "true",
    },
  };
}

interface UploadOptions {
  readonly now: Ticks;
  readonly newId: () => bigint;
  readonly blockIdLength: number;
}

/** Returns the upload (record of uncommitted blocks) that a new block belongs to, and the effects
 *  that write it: if it is new, or if its lifetime of a week must start again. */
export function openUpload(key: BlobKey, { stored, live }: UploadLookup, options: UploadOptions) {
  const { now, newId, blockIdLength } = options;
  if (live !== undefined) {
    const touched: UploadRecord = { ...live, touched: now };
    const stale = now - live.touched > touchIntervalTicks;
    return { upload: live, effects: stale ? [put(uploads, key, touched)] : [] };
  }
  const upload: UploadRecord = { id: newId(), blockIdLength, touched: now };
  const effects: Effect[] = [put(uploads, key, upload), ...periodJob(uploads, key, upload)];
  if (stored !== undefined) effects.push(reclaimOwned("upload", stored.id));
  return { upload, effects };
}

interface BlockRequest {
  readonly scope: ContainerScope;
  readonly input: { readonly blockId: string };
}

/** What the declarations of Put Block and Put Block From URL have in common. */
const staging = {
  params: { blockId, encryption },
  permission: blockPermission,
  target: "may-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  policy: { ...blobChange.policy, content: "none", clientKey: "none", directories: "reject" },
  status: 201,
  reads: (view: RecordView, { scope, input }: BlockRequest): Promise<StagingState> =>
    readStagingState(view, scope, input.blockId),
  decide: (context: BlockRequest & Omit<StageBlockContext, "blockId">) =>
    stageBlock(blobKey(context), { ...context, blockId: context.input.blockId }),
} as const;

/** Stores an uncommitted block of a blob. learn.microsoft.com/rest/api/storageservices/put-block */
export const putBlock = operation({
  ...staging,
  name: "Put Block",
  ids: ["BlockBlob_StageBlock"],
  route: partRoute("block", false),
  body: partBody(putBlockBytesMax),
  freedBytes: (view, { scope, input }) => replacedBytes(view, scope, input.blockId),
});

/** Put Block whose bytes are read from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-block-from-url */
export const putBlockFromUrl = operation({
  ...staging,
  name: "Put Block From URL",
  ids: ["BlockBlob_StageBlockFromURL"],
  route: partRoute("block", true),
  since: "2018-03-28",
  body: partSource({ lengthMax: putBlockBytesMax, style: "blob-from-url", md5Always: false }),
  namedResources: [copySource],
});
