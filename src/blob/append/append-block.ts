import { append, type ReceivedBody } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { header, integer } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { blobChange } from "../blob-policy.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { encryptionHeaders, bodyChecksum, bothChecksums } from "../shared/create-blob.ts";
import { partBody, partRoute, partSource } from "../shared/write-part.ts";
import { appendBlockBytesMax, appendedBlocksMax } from "../shared/limits.ts";

/** Operations on append blobs, to whose end clients add blocks (log writers, for example): Append
 *  Block, with the bytes in the request or at a URL, and Append Blob Seal. */

/** `x-ms-blob-condition-appendpos`: the length that the blob must have before the append. */
const appendPosition = header("x-ms-blob-condition-appendpos", integer(0, Number.MAX_SAFE_INTEGER));

/** `x-ms-blob-condition-maxsize`: the length that the blob must not exceed after the append. */
const maxSize = header("x-ms-blob-condition-maxsize", integer(0, Number.MAX_SAFE_INTEGER));

interface AppendConditions {
  readonly appendPosition: number | undefined;
  readonly maxSize?: number | undefined;
}

/** Checks that the target is an append blob, and the conditions for appending `length` bytes. */
function checkAppend(
  target: BlobRecord,
  conditions: AppendConditions,
  length: number,
): Result<undefined> {
  if (target.type !== "AppendBlob") return fail("InvalidBlobType");
  if (target.writtenBy === "dfs") return fail("BlobOperationNotSupported");
  const currentLength = target.content.length;
  if (conditions.appendPosition !== undefined && conditions.appendPosition !== currentLength) {
    return fail("AppendPositionConditionNotMet");
  }
  if (conditions.maxSize !== undefined && currentLength + length > conditions.maxSize) {
    return fail("MaxBlobSizeConditionNotMet");
  }
  return ok(undefined);
}

interface AppendContext {
  readonly target: BlobRecord;
  readonly received: ReceivedBody;
  readonly input: AppendConditions;
  readonly version: string;
}

/** The decision of Append Block and Append Block From URL. */
function appendReply({ target, received, input, version }: AppendContext) {
  const allowed = checkAppend(target, input, received.length);
  if (!allowed.ok) return allowed;
  if (target.sealed === true) return fail("BlobIsSealed");
  const count = (target.committedBlockCount ?? 0) + 1;
  if (count > appendedBlocksMax) return fail("BlockCountExceedsLimit");
  return {
    put: { ...target, committedBlockCount: count },
    content: append(target.content, received),
    headers: {
      ...bodyChecksum(received, version),
      "x-ms-blob-append-offset": String(target.content.length),
      "x-ms-blob-committed-block-count": String(count),
      "x-ms-request-server-encrypted": "true",
      ...encryptionHeaders(target),
    },
  };
}

const policy = { ...blobChange.policy, directories: "reject" } as const;

/** What the declarations of Append Block and Append Block From URL have in common. */
const appending = {
  ...blobChange,
  params: { appendPosition, maxSize, encryption },
  permission: { letters: "aw", resourceType: "o" },
  ifNoneMatchAny: "ignored",
  policy,
  status: 201,
} as const;

/** Appends the body to an append blob. learn.microsoft.com/rest/api/storageservices/append-block */
export const appendBlock = operation({
  ...appending,
  name: "Append Block",
  ids: ["AppendBlob_AppendBlock"],
  route: partRoute("appendblock", false),
  since: "2015-02-21",
  body: partBody(appendBlockBytesMax),
  conditionFaults: { outOfRange: "OutOfRangeInput" },
  freedBytes: () => 0,
  decide: (context) => appendReply(context),
});

/** Append Block whose bytes are read from a URL.
 *  learn.microsoft.com/rest/api/storageservices/append-block-from-url */
export const appendBlockFromUrl = operation({
  ...appending,
  name: "Append Block From URL",
  ids: ["AppendBlob_AppendBlockFromUrl"],
  route: partRoute("appendblock", true),
  since: "2018-11-09",
  body: partSource({ lengthMax: appendBlockBytesMax, style: "range-from-url", md5Always: true }),
  namedResources: [copySource],
  decide: (context) => {
    const reply = appendReply(context);
    const { received, version } = context;
    return "fault" in reply
      ? reply
      : { ...reply, headers: { ...reply.headers, ...bothChecksums(received, version) } };
  },
});

/** Makes an append blob read-only. Idempotent: sealing a sealed blob succeeds.
 *  learn.microsoft.com/rest/api/storageservices/append-blob-seal */
export const sealAppendBlob = operation({
  ...blobChange,
  name: "Append Blob Seal",
  ids: ["AppendBlob_Seal"],
  route: { method: "PUT", resource: "blob", query: { comp: "seal" } },
  since: "2019-12-12",
  params: { appendPosition },
  policy: { ...policy, clientKey: "none" },
  decide: ({ target, input }) => {
    const allowed = checkAppend(target, input, 0);
    if (!allowed.ok) return allowed;
    return { put: { ...target, sealed: true as const }, headers: { "x-ms-blob-sealed": "true" } };
  },
});
