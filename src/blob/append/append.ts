import { header, integer } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { append } from "../../content/plan.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/blob-encryption.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { appendedBlocksMax } from "../shared/limits.ts";

/** Where the client believes the blob to end. */
export const appendPosition = header(
  "x-ms-blob-condition-appendpos",
  integer(0, Number.MAX_SAFE_INTEGER),
);

/** How long the blob may become. */
export const maxSize = header("x-ms-blob-condition-maxsize", integer(0, Number.MAX_SAFE_INTEGER));

export interface AppendConditions {
  readonly appendPosition: number | undefined;
  readonly maxSize?: number | undefined;
}

/** Whether `length` more bytes may follow. Both conditions speak of the blob as it is now. */
export function checkAppend(
  target: BlobRecord,
  conditions: AppendConditions,
  length: number,
): Result<undefined> {
  if (target.type !== "AppendBlob") return fail("InvalidBlobType");
  const present = target.content.length;
  if (conditions.appendPosition !== undefined && conditions.appendPosition !== present) {
    return fail("AppendPositionConditionNotMet");
  }
  if (conditions.maxSize !== undefined && present + length > conditions.maxSize) {
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

/** One more block at the end, wherever its bytes came from. */
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
