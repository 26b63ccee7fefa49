import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { operation } from "../resources.ts";
import { inlinePartBytesMax, putBlockBytesMax } from "../shared/limits.ts";
import { blobKey } from "../shared/overwrite.ts";
import { blockId } from "./block-id.ts";
import { readStagingState, stageBlock, stageReplyHeaders } from "./stage-block.ts";

/** learn.microsoft.com/rest/api/storageservices/put-block-from-url */
export const putBlockFromUrl = operation({
  name: "Put Block From URL",
  ids: ["BlockBlob_StageBlockFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "block" },
    headers: { "x-ms-copy-source": true },
  },
  since: "2018-03-28",
  params: { blockId, encryption },
  body: {
    kind: "source",
    lengthMax: putBlockBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    style: "blob-from-url",
    range: "x-ms-source-range",
    md5Always: false,
    nonEmpty: true,
  },
  namedResources: [copySource],
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
