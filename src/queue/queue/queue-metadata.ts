import { metadata } from "../../operation/common-params.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { messageCount } from "../records.ts";
import { operation } from "../resources.ts";

const query = { comp: "metadata" };

/** The message count includes invisible messages and expired ones that are not yet removed.
 *  learn.microsoft.com/rest/api/storageservices/get-queue-metadata */
export const getQueueMetadata = operation({
  name: "Get Queue Metadata",
  ids: ["Queue_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "queue", query },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "r", resourceType: "c" },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: ["Cache-Control", "x-ms-approximate-messages-count"] },
  reads: (view, { target }) => view.count(messageCount.key(target.id)),
  decide: ({ target, readResult }) => ({
    metadata: target.metadata,
    headers: { "Cache-Control": "no-cache", "x-ms-approximate-messages-count": String(readResult) },
  }),
});

/** Replaces all metadata. learn.microsoft.com/rest/api/storageservices/set-queue-metadata */
export const setQueueMetadata = operation({
  name: "Set Queue Metadata",
  ids: ["Queue_SetMetadata"],
  route: { method: "PUT", resource: "queue", query },
  since: "2009-09-19",
  params: { metadata },
  body: noBody,
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  success: { status: 204, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});
