import { append } from "../../content/plan.ts";
import type { Received } from "../../content/content-ref.ts";
import { fail } from "../../protocol/result.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../encryption/blob-encryption.ts";
import type { BlobRecord } from "../records.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { appendedBlocksMax } from "../shared/limits.ts";
import { checkAppend, type AppendConditions } from "./append-conditions.ts";

export const appendReplyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-blob-append-offset",
  "x-ms-blob-committed-block-count",
  "x-ms-request-server-encrypted",
  ...encryptionHeaderNames,
] as const;

interface Appending {
  readonly target: BlobRecord;
  readonly received: Received;
  readonly input: AppendConditions;
  readonly version: string;
}

/** One more block at the end, wherever its bytes came from. */
export function appendReply({ target, received, input, version }: Appending) {
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
