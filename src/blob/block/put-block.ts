import { inlinePartBytesMax } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import type { RecordView } from "../../operation/view.ts";
import { operation, type ContainerScope } from "../resources.ts";
import { putBlockBytesMax } from "../shared/limits.ts";
import { blobKey } from "../shared/overwrite.ts";
import { blockId } from "./block-id.ts";
import {
  blockPermission,
  readStagingState,
  replacedBytes,
  stageBlock,
  stageReplyHeaders,
  type StageBlockContext,
  type StagingState,
} from "./stage-block.ts";

interface BlockRequest {
  readonly scope: ContainerScope;
  readonly input: { readonly blockId: string };
}

/** The fields that the declarations of both operations share. */
const staging = {
  params: { blockId, encryption },
  permission: blockPermission,
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
    event: "none",
  },
  success: { status: 201, headers: stageReplyHeaders },
  reads: (view: RecordView, { scope, input }: BlockRequest): Promise<StagingState> =>
    readStagingState(view, scope, input.blockId),
  decide: (context: BlockRequest & Omit<StageBlockContext, "blockId">) =>
    stageBlock(blobKey(context), { ...context, blockId: context.input.blockId }),
} as const;

/** learn.microsoft.com/rest/api/storageservices/put-block */
export const putBlock = operation({
  ...staging,
  name: "Put Block",
  ids: ["BlockBlob_StageBlock"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "block" },
    headers: { "x-ms-copy-source": false },
  },
  since: "2009-09-19",
  body: {
    kind: "content",
    lengthMax: putBlockBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: false,
    nonEmpty: true,
  },
  freedBytes: (view, { scope, input }) => replacedBytes(view, scope, input.blockId),
});

/** learn.microsoft.com/rest/api/storageservices/put-block-from-url */
export const putBlockFromUrl = operation({
  ...staging,
  name: "Put Block From URL",
  ids: ["BlockBlob_StageBlockFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "block" },
    headers: { "x-ms-copy-source": true },
  },
  since: "2018-03-28",
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
});
