import { encryption } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { appendBlockBytesMax, inlinePartBytesMax } from "../shared/limits.ts";
import { appendPosition, maxSize, appendReply, appendReplyHeaders } from "./append.ts";

/** learn.microsoft.com/rest/api/storageservices/append-block */
export const appendBlock = operation({
  name: "Append Block",
  ids: ["AppendBlob_AppendBlock"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "appendblock" },
    headers: { "x-ms-copy-source": false },
  },
  since: "2015-02-21",
  params: { appendPosition, maxSize, encryption },
  body: {
    kind: "content",
    lengthMax: appendBlockBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: false,
    nonEmpty: true,
  },
  permission: { letters: "aw", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  conditionFaults: { outOfRange: "OutOfRangeInput" },
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: {
    content: "change",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "match",
    directories: "reject",
  },
  success: { status: 201, headers: appendReplyHeaders },
  decide: (context) => appendReply(context),
});
