import { formatHttpDate } from "../../base/dates.ts";
import type { BlobRecord } from "../records.ts";

export const typeHeaderNames = [
  "x-ms-blob-sequence-number",
  "x-ms-blob-committed-block-count",
  "x-ms-blob-sealed",
  "x-ms-expiry-time",
] as const;

/** What only blobs of one type tell of themselves. */
export function typeHeaders(target: BlobRecord) {
  const { type, sequenceNumber = 0n, committedBlockCount = 0, sealed, expiresAt } = target;
  return {
    "x-ms-blob-sequence-number": type === "PageBlob" ? String(sequenceNumber) : undefined,
    "x-ms-blob-committed-block-count":
      type === "AppendBlob" ? String(committedBlockCount) : undefined,
    "x-ms-blob-sealed": sealed === true ? "true" : undefined,
    "x-ms-expiry-time": expiresAt === undefined ? undefined : formatHttpDate(expiresAt),
  };
}
