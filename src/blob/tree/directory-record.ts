import { emptyContent } from "../../content/content-ref.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { PosixAccess } from "../../protocol/posix-acl.ts";
import type { BlobRecord, HttpHeaders } from "../records.ts";

/** The pair by which clients of the Blob API know a directory. */
export const folderMark = "hdi_isfolder";

const folderPair = [folderMark, "true"] as const;
const noHeaders: HttpHeaders = {};

export interface NewDirectory {
  readonly id: bigint;
  readonly etag: Ticks;
  readonly now: Ticks;
  readonly metadata?: Metadata | undefined;
  readonly headers?: HttpHeaders | undefined;
  readonly posix?: PosixAccess | undefined;
}

export function newDirectory(given: NewDirectory): BlobRecord {
  const { id, etag, now, metadata = [], headers = noHeaders, posix } = given;
  return {
    etag,
    created: now,
    type: "BlockBlob",
    content: emptyContent,
    headers,
    metadata: withFolderMark(metadata),
    directory: id,
    posix,
  };
}

export function isDirectory({ directory }: BlobRecord): boolean {
  return directory !== undefined;
}

/** Whether metadata marks a blob as a directory: clients of the Blob API create one so. */
export function hasFolderMark(metadata: Metadata): boolean {
  return metadata.some(
    ([name, value]) => name.toLowerCase() === folderMark && value.toLowerCase() === "true",
  );
}

/** A directory keeps its mark, whatever metadata it is given. */
export function withFolderMark(metadata: Metadata): Metadata {
  const others = metadata.filter(([name]) => name.toLowerCase() !== folderMark);
  return [...others, folderPair];
}
