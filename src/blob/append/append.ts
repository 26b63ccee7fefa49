import { header, integer } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { append } from "../../content/plan.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/blob-encryption.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { appendedBlocksMax } from "../shared/limits.ts";

/** `x-ms-blob-condition-appendpos`: the length that the blob must have before the append. */
export const appendPosition = header(
  "x-ms-blob-condition-appendpos",
  integer(0, Number.MAX_SAFE_INTEGER),
);

/** `x-ms-blob-condition-maxsize`: the length that the blob must not exceed after the append. */
export const maxSize = header("x-ms-blob-condition-maxsize", integer(0, Number.MAX_SAFE_INTEGER));

export interface AppendConditions {
  readonly appendPosition: number | undefined;
  readonly maxSize?: number | undefined;
}

/** Checks that the target is an append blob, and the append conditions for an append of `length`
 *  bytes. */
export function checkAppend(
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

export const appendReplyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-blob-append-offset",
  "x-ms-blob-committed-block-count",
  "x-ms-request-server-encrypted",
  ...encryptionHeaderNames,
] as const;

interface AppendContext {
  readonly target: BlobRecord;
  readonly received: ReceivedBody;
  readonly input: AppendConditions;
  readonly version: string;
}

/** The decision of Append Block and Append Block From URL. */
export function appendReply({ target, received, input, version }: AppendContext) {
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
