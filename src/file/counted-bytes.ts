import { metadataBytes } from "../protocol/metadata.ts";
import type { NodeRecord } from "./records.ts";

/** The bytes of a file, or of an earlier state that snapshots show, that count against the quota of
 *  its account. */
export function nodeBytes({ allocated = 0, metadata }: NodeRecord): number {
  return allocated + metadataBytes(metadata);
}

/** The bytes of a file that count against the quota of its share, and that its statistics report:
 *  the service counts the length of a file, written or not. */
export function shareBytes({ counted, allocated = 0 }: NodeRecord): number {
  return counted ?? allocated;
}
