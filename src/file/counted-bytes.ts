import { metadataBytes } from "../protocol/metadata.ts";
import type { NodeRecord } from "./records.ts";

/** The bytes of a file, or of an earlier state that snapshots show, that count against the quota of
 *  its account. */
export function nodeBytes({ allocated = 0, metadata }: NodeRecord): number {
  return allocated + metadataBytes(metadata);
}
