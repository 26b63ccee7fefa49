import type { Result } from "../result.ts";
import type { Page } from "./container.ts";
import { request, bodyText } from "./request.ts";
import { childOf, nameOf, numberOf, pairsOf, parseXml, textOf } from "./xml.ts";

export interface BlobEntry {
  readonly kind: "blob" | "folder";
  readonly name: string;
  readonly snapshot: string | undefined;
  readonly version: string | undefined;
  readonly isCurrentVersion: boolean;
  readonly isDeleted: boolean;
  readonly etag: string;
  readonly lastModified: string;
  readonly createdAt: string;
  readonly length: number | undefined;
  readonly contentType: string;
  readonly blobType: string;
  readonly tier: string;
  /** Whether the tier is that of the account, not one that was set. */
  readonly isTierInferred: boolean;
  readonly leaseState: string;
  readonly metadata: Readonly<Record<string, string>>;
}

interface BlobListing {
  readonly account: string;
  readonly container: string;
  readonly prefix: string;
  readonly delimiter: string | undefined;
  readonly marker: string | undefined;
  readonly include: readonly string[];
  readonly resultsMax: number;
  readonly signal?: AbortSignal | undefined;
}

export async function listBlobs(listing: BlobListing): Promise<Result<Page<BlobEntry>>> {
  const answer = await request("blob", [listing.account, listing.container], {
    query: {
      restype: "container",
      comp: "list",
      prefix: listing.prefix || undefined,
      delimiter: listing.delimiter,
      marker: listing.marker,
      include: listing.include.length === 0 ? undefined : listing.include.join(","),
      maxresults: listing.resultsMax,
    },
    signal: listing.signal,
  });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const rows: BlobEntry[] = [];
  const blobs = childOf(root, "Blobs");
  for (let one = blobs?.firstElementChild ?? null; one; one = one.nextElementSibling) {
    rows.push(one.tagName === "BlobPrefix" ? readPrefix(one) : readBlob(one));
  }
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

/** A prefix of a flat container has only a name; a directory of a tree also has properties. */
function readPrefix(element: Element): BlobEntry {
  const properties = childOf(element, "Properties");
  return {
    kind: "folder",
    name: nameOf(element),
    snapshot: undefined,
    version: undefined,
    isCurrentVersion: true,
    isDeleted: false,
    etag: textOf(properties, "Etag") ?? "",
    lastModified: textOf(properties, "Last-Modified") ?? "",
    createdAt: textOf(properties, "Creation-Time") ?? "",
    length: undefined,
    contentType: "",
    blobType: "",
    tier: "",
    isTierInferred: true,
    leaseState: textOf(properties, "LeaseState") ?? "",
    metadata: {},
  };
}

function readBlob(element: Element): BlobEntry {
  const properties = childOf(element, "Properties");
  const text = (name: string): string => textOf(properties, name) ?? "";
  if (text("ResourceType") === "directory") {
    const directory = readPrefix(element);
    return { ...directory, name: `${directory.name}/` };
  }
  const version = textOf(element, "VersionId");
  return {
    kind: "blob",
    name: nameOf(element),
    snapshot: textOf(element, "Snapshot"),
    version,
    isCurrentVersion: version === undefined || textOf(element, "IsCurrentVersion") === "true",
    isDeleted: textOf(element, "Deleted") === "true",
    etag: text("Etag"),
    lastModified: text("Last-Modified"),
    createdAt: text("Creation-Time"),
    length: numberOf(properties, "Content-Length"),
    contentType: text("Content-Type"),
    blobType: text("BlobType"),
    tier: text("AccessTier"),
    isTierInferred: text("AccessTierInferred") === "true",
    leaseState: text("LeaseState"),
    metadata: pairsOf(childOf(element, "Metadata")),
  };
}
