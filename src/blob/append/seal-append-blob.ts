import { noBody } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { appendPosition, checkAppend } from "./append.ts";

/** Makes an append blob read-only. Idempotent: sealing a sealed blob succeeds.
 *  learn.microsoft.com/rest/api/storageservices/append-blob-seal */
export const sealAppendBlob = operation({
  name: "Append Blob Seal",
  ids: ["AppendBlob_Seal"],
  route: { method: "PUT", resource: "blob", query: { comp: "seal" } },
  since: "2019-12-12",
  params: { appendPosition },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: {
    content: "change",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
  },
  success: { status: 200, headers: ["x-ms-blob-sealed"] },
  decide: ({ target, input }) => {
    const allowed = checkAppend(target, input, 0);
    if (!allowed.ok) return allowed;
    return { put: { ...target, sealed: true as const }, headers: { "x-ms-blob-sealed": "true" } };
  },
});
