import { emptyContent } from "../../content/content-ref.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { PosixAccess } from "../../protocol/posix-acl.ts";
import type { BlobRecord, HttpHeaders } from "../records.ts";

/** Name of the metadata pair by which clients of the Blob API recognise a directory. */
const folderMark = "hdi_isfolder";

const folderPair = [folderMark, "true"] as const;
const noHeaders: HttpHeaders = {};

/** The fields of a new directory. */
interface NewDirectory {
  readonly id: bigint;
  readonly etag: Ticks;
  readonly now: Ticks;
  readonly metadata?: Metadata | undefined;
  readonly headers?: HttpHeaders | undefined;
  readonly posix?: PosixAccess | undefined;
}

export function newDirectory(fields: NewDirectory): BlobRecord {
  const { id, etag, now, metadata = [], headers = noHeaders, posix } = fields;
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

/** The record that stands for a directory of a flat account that is only a prefix of names. */
export function prefixDirectory(etag: Ticks): BlobRecord {
  return { ...newDirectory({ id: 0n, etag, now: etag }), directory: undefined };
}

/** Whether metadata marks a blob as a directory: clients of the Blob API create one so. */
export function hasFolderMark(metadata: Metadata): boolean {
  return metadata.some(
    ([name, value]) => name.toLowerCase() === folderMark && value.toLowerCase() === "true",
  );
}

/** The metadata of a directory, which always includes the folder mark. */
export function withFolderMark(metadata: Metadata): Metadata {
  const others = metadata.filter(([name]) => name.toLowerCase() !== folderMark);
  return [...others, folderPair];
}
