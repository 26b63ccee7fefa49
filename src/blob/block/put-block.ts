import { encryption } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { inlinePartBytesMax, putBlockBytesMax } from "../shared/limits.ts";
import { blobKey } from "../shared/overwrite.ts";
import { blockId } from "./block-id.ts";
import { readStagingState, stageBlock, stageReplyHeaders } from "./stage-block.ts";

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
  params: { blockId, encryption },
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
  policy: {
    content: "none",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
  },
  success: { status: 201, headers: stageReplyHeaders },
  reads: (view, { scope, input }) => readStagingState(view, blobKey({ scope }), input.blockId),
  decide: (context) => stageBlock(blobKey(context), { ...context, blockId: context.input.blockId }),
});
