import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { textElement } from "../../encoding/xml-writer.ts";
import type { BlobRecord } from "../records.ts";

/** What responses to reads and listings say of the last copy to a blob. */

/** The headers that describe the last copy to a blob, in responses to reads. */
export function copyHeaders({ copy, incrementalCopy }: BlobRecord) {
  if (copy === undefined) return {};
  const { id, source, status, copiedBytes, totalBytes, completed, description } = copy;
  const snapshot = copy.destinationSnapshot;
  return {
    "x-ms-copy-id": id,
    "x-ms-copy-source": source,
    "x-ms-copy-status": status,
    "x-ms-copy-progress": `${copiedBytes}/${totalBytes}`,
    "x-ms-copy-completion-time": completed === undefined ? undefined : formatHttpDate(completed),
    "x-ms-copy-status-description": description,
    "x-ms-copy-destination-snapshot": snapshot === undefined ? undefined : formatIso(snapshot),
    "x-ms-incremental-copy": incrementalCopy === true ? "true" : undefined,
  };
}

/** The elements that describe the last copy to a blob, in listings. */
export function copyElements({ copy, incrementalCopy }: BlobRecord): string {
  if (copy === undefined) return "";
  const { id, source, status, copiedBytes, totalBytes, completed, description } = copy;
  const snapshot = copy.destinationSnapshot;
  return (
    textElement("CopyId", id) +
    textElement("CopySource", source) +
    textElement("CopyStatus", status) +
    textElement("CopyProgress", `${copiedBytes}/${totalBytes}`) +
    textElement("CopyCompletionTime", completed && formatHttpDate(completed)) +
    textElement("CopyStatusDescription", description) +
    textElement("IncrementalCopy", incrementalCopy === true ? "true" : undefined) +
    textElement("CopyDestinationSnapshot", snapshot && formatIso(snapshot))
  );
}
