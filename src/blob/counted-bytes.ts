import { metadataBytes } from "../protocol/metadata.ts";
import type { BlobRecord, UploadRecord } from "./records.ts";

/** The bytes of a blob or generation that count against the quota of its account. A page blob
 *  counts with its full size, as Azure charges a disk. Generations that share content count it
 *  each. */
export function blobBytes({ content, metadata }: BlobRecord): number {
  return content.length + metadataBytes(metadata);
}

/** The same for the data in the record of an upload. */
export function uploadBytes({ inline = [] }: UploadRecord): number {
  return inline.reduce((sum, { source }) => sum + source.bytes.length, 0);
}
