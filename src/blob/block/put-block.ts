import { whole } from "../../content/plan.ts";
import { emptyContent } from "../../core/content-ref.ts";
import { add, put, reclaim, reclaimAt, type Effect } from "../../core/effects.ts";
import { fail } from "../../core/result.ts";
import { ticksPerSecond, type Ticks } from "../../core/ticks.ts";
import type { RecordView } from "../../core/view.ts";
import { blocks, uploads, type BlobKey, type BlobRecord, type UploadRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { inlinePartBytesMax, putBlockBytesMax, uncommittedBlocksMax } from "../shared/limits.ts";
import { blobKey } from "../shared/succession.ts";
import { blockId } from "./block-id.ts";
import { blockCounter, findUpload, uploadEnds, type Staged } from "./uncommitted.ts";

const touchEvery = 3600n * ticksPerSecond;

/** learn.microsoft.com/rest/api/storageservices/put-block */
export const putBlock = operation({
  name: "Put Block",
  ids: ["BlockBlob_StageBlock"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "block" },
    headers: { "x-ms-copy-source": false },
  },
  since: "2009-09-19",
  params: { blockId },
  body: {
    kind: "content",
    lengthMax: putBlockBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: false,
    nonEmpty: true,
  },
  permission: { letters: "w", resourceType: "o" },
  target: "may-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  success: {
    status: 201,
    headers: ["Content-MD5", "x-ms-content-crc64", "x-ms-request-server-encrypted"],
  },
  reads: async (view, { scope, address, target, input }) => {
    const staged = await findUpload(view, blobKey({ scope, address }));
    const upload = staged.live;
    const idLength = upload?.blockIdLength ?? (await committedIdLength(view, target));
    const block = upload && (await view.get(blocks, { upload: upload.id, id: input.blockId }));
    const count = upload === undefined ? 0n : await view.count(blockCounter(upload.id));
    return { staged, idLength, replaces: block !== undefined, count };
  },
  decide: (context) => {
    const { target, input, received, seen, now, newId } = context;
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    if (seen.idLength !== undefined && seen.idLength !== input.blockId.length) {
      return fail("InvalidBlobOrBlock");
    }
    if (!seen.replaces && seen.count >= BigInt(uncommittedBlocksMax)) {
      return fail("BlockCountExceedsLimit");
    }
    const opened = openUpload(blobKey(context), seen.staged, {
      now,
      newId,
      blockIdLength: input.blockId.length,
    });
    const key = { upload: opened.upload.id, id: input.blockId };
    const block = put(blocks, key, { content: emptyContent }, whole(received));
    const counted = seen.replaces ? [] : [add(blockCounter(opened.upload.id), 1n)];
    return {
      effects: [...opened.effects, block, ...counted],
      headers: { ...bodyChecksum(received), "x-ms-request-server-encrypted": "true" },
    };
  },
});

export { bodyChecksum };

interface Opening {
  readonly now: Ticks;
  readonly newId: () => bigint;
  readonly blockIdLength: number;
}

/** The upload the block belongs to, written only when it is new or its week must start anew. */
function openUpload(key: BlobKey, { stored, live }: Staged, opening: Opening) {
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

/** New ids must be as long as those already committed. */
async function committedIdLength(
  view: RecordView,
  target: BlobRecord | undefined,
): Promise<number | undefined> {
  if (target === undefined || target.content.kind === "inline") return undefined;
  for await (const batch of view.slices(target.content, 0, 1)) {
    for (const { block } of batch) return block?.length;
  }
  return undefined;
}
