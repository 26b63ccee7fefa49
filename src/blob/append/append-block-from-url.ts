import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { operation } from "../resources.ts";
import { appendBlockBytesMax, inlinePartBytesMax } from "../shared/limits.ts";
import { bothChecksums } from "../shared/checksum-headers.ts";
import { appendPosition, maxSize, appendReply, appendReplyHeaders } from "./append.ts";

/** learn.microsoft.com/rest/api/storageservices/append-block-from-url */
export const appendBlockFromUrl = operation({
  name: "Append Block From URL",
  ids: ["AppendBlob_AppendBlockFromUrl"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "appendblock" },
    headers: { "x-ms-copy-source": true },
  },
  since: "2018-11-09",
  params: { appendPosition, maxSize, encryption },
  body: {
    kind: "source",
    lengthMax: appendBlockBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    style: "range-from-url",
    range: "x-ms-source-range",
    md5Always: true,
    nonEmpty: true,
  },
  namedResources: [copySource],
  permission: { letters: "aw", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
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
  decide: (context) => {
    const reply = appendReply(context);
    const { received, version } = context;
    return "fault" in reply
      ? reply
      : { ...reply, headers: { ...reply.headers, ...bothChecksums(received, version) } };
  },
});
