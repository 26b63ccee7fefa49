import { invalidHeader } from "../../protocol/faults.ts";
import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { operation } from "../resources.ts";
import { bothChecksums } from "../shared/checksum-headers.ts";
import { inlinePartBytesMax, putPageBytesMax } from "../shared/limits.ts";
import { pageRange, sequenceConditions } from "./page-params.ts";
import { checkPages, pageReplyHeaders, pagesReply } from "./put-page.ts";

/** learn.microsoft.com/rest/api/storageservices/put-page-from-url */
export const putPageFromUrl = operation({
  name: "Put Page From URL",
  ids: ["PageBlob_UploadPagesFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "page" },
    headers: { "x-ms-page-write": "update", "x-ms-copy-source": true },
  },
  since: "2018-11-09",
  params: { range: pageRange, sequence: sequenceConditions("InvalidHeaderValue"), encryption },
  body: {
    kind: "source",
    lengthMax: () => putPageBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    style: "range-from-url",
    range: "x-ms-source-range",
    md5Always: true,
    nonEmpty: true,
  },
  namedResources: [copySource],
  permission: { letters: "w", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "write",
  conditionFaults: { noETag: "TargetConditionNotMet" },
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: { content: "change", generations: "current", pendingCopy: "reject", clientKey: "match" },
  success: { status: 201, headers: pageReplyHeaders },
  decide: (context) => {
    const { target, received, input, version } = context;
    const { range } = input;
    if (range.length !== received.length) {
      return invalidHeader("x-ms-range", `bytes=${range.from}-${range.from + range.length - 1}`);
    }
    const allowed = checkPages(target, range, input.sequence);
    if (!allowed.ok) return allowed;
    const reply = pagesReply(context);
    return { ...reply, headers: { ...reply.headers, ...bothChecksums(received, version) } };
  },
});
