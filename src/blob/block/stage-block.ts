import { whole } from "../../content/plan.ts";
import { emptyContent, type ReceivedBody } from "../../content/content-ref.ts";
import { add, put, reclaim, reclaimAt, type Effect } from "../../operation/effects.ts";
import type { Encryption } from "../../protocol/encryption.ts";
import { fail } from "../../protocol/result.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  chooseEncryption,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import { blocks, uploads, type BlobKey, type BlobRecord, type UploadRecord } from "../records.ts";
import type { ContainerScope } from "../resources.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { uncommittedBlocksMax } from "../shared/limits.ts";
import { blockCounter, findUpload, uploadEnds, type UploadLookup } from "./read-blocks.ts";

/** How exactly the time of the last change of an upload is known. */
export const touchEvery = 3600n * ticksPerSecond;

export const stageReplyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-request-server-encrypted",
  ...encryptionHeaderNames,
] as const;

/** What is known of the blocks that wait beside a new one. */
export interface StagingState {
  readonly staged: UploadLookup;
  readonly replaces: boolean;
  readonly count: bigint;
}

export async function readStagingState(
  view: RecordView,
  key: BlobKey,
  blockId: string,
): Promise<StagingState> {
  const staged = await findUpload(view, key);
  const upload = staged.live;
  const block = upload && (await view.get(blocks, { upload: upload.id, id: blockId }));
  const count = upload === undefined ? 0n : await view.count(blockCounter(upload.id));
  return { staged, replaces: block !== undefined, count };
}

export interface StageBlockContext {
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

/** Puts one block beside those that wait, wherever its bytes came from. */
export function stageBlock(
  key: BlobKey,
  { target, readResult, blockId, ...staging }: StageBlockContext,
) {
  const { received, now, newId, scope, input, version } = staging;
  if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
  if (target?.writtenBy === "dfs") return fail("BlobOperationNotSupported");
  const idLength = readResult.staged.live?.blockIdLength;
  if (idLength !== undefined && idLength !== blockId.length) return fail("InvalidBlobOrBlock");
  if (!readResult.replaces && readResult.count >= BigInt(uncommittedBlocksMax)) {
    return fail("BlockCountExceedsLimit");
  }
  const sealing = chooseEncryption(input.encryption, scope.container);
  if (!sealing.ok) return sealing;
  const opening = { now, newId, blockIdLength: blockId.length };
  const opened = openUpload(key, readResult.staged, opening);
  const at = { upload: opened.upload.id, id: blockId };
  const { keySha256 } = sealing.value;
  const block = put(blocks, at, { content: emptyContent, keySha256 }, whole(received));
  const counted = readResult.replaces ? [] : [add(blockCounter(opened.upload.id), 1n)];
  return {
    effects: [...opened.effects, block, ...counted],
    headers: {
      ...bodyChecksum(received, version),
      ...encryptionHeaders(sealing.value),
      "x-ms-request-server-encrypted": "true",
    },
  };
}

interface UploadOptions {
  readonly now: Ticks;
  readonly newId: () => bigint;
  readonly blockIdLength: number;
}

/** The upload the block belongs to, written only when it is new or its week must start anew. */
export function openUpload(key: BlobKey, { stored, live }: UploadLookup, opening: UploadOptions) {
  const { now, newId, blockIdLength } = opening;
  if (live !== undefined) {
    const touched: UploadRecord = { ...live, touched: now };
    const stale = now - live.touched > touchEvery;
    return { upload: live, effects: stale ? [put(uploads, key, touched)] : [] };
  }
  const upload: UploadRecord = { id: newId(), blockIdLength, touched: now };
  const term = reclaimAt(uploadEnds(upload), "blob-upload", key.container, key.name, upload.id);
  const effects: Effect[] = [put(uploads, key, upload), term];
  if (stored !== undefined) effects.push(reclaim("blob-blocks", stored.id));
  return { upload, effects };
}
