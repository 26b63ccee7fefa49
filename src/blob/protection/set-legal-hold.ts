import { noBody } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/generation.ts";
import { legalHold } from "./protection.ts";

/** learn.microsoft.com/rest/api/storageservices/set-blob-legal-hold */
export const setLegalHold = operation({
  name: "Set Blob Legal Hold",
  ids: ["Blob_SetLegalHold"],
  route: { method: "PUT", resource: "blob", query: { comp: "legalhold" } },
  since: "2020-04-08",
  params: { legalHold },
  body: noBody,
  permission: { letters: "i", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  policy: { content: "none", generations: "any", pendingCopy: "reject", clientKey: "none" },
  success: { status: 200, headers: ["x-ms-legal-hold"] },
  decide: (context) => {
    const { target, input } = context;
    return {
      ...putAddressed(context, { ...target, legalHold: input.legalHold }),
      headers: { "x-ms-legal-hold": String(input.legalHold) },
    };
  },
});
