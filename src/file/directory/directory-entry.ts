import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { bareETag } from "../../protocol/etag.ts";
import { element, nameElement, textElement } from "../../encoding/xml-writer.ts";
import type { NodeRecord } from "../records.ts";
import { formatAttributes } from "../shared/attributes.ts";

/** The values of the `include` parameter of List Directories and Files. */
export type Detail = "timestamps" | "etag" | "attributes" | "permissionkey";

export interface EntryOptions {
  readonly include: ReadonlySet<Detail>;
  readonly version: string;
}

const details: readonly Detail[] = ["timestamps", "etag", "attributes", "permissionkey"];
/** The version from which entries have a `FileId`. */
const idsSince = "2020-10-02";

/** One bit per listing option that changes the rendered entry; part of the key of the cache of
 *  rendered entries. */
export function optionBits({ include, version }: EntryOptions): number {
  const choices = [...details.map((detail) => include.has(detail)), version >= idsSince];
  return choices.reduce((bits, choice) => bits * 2 + (choice ? 1 : 0), 0);
}

/** The XML element of one entry in a directory listing. */
export function renderEntry(node: NodeRecord, { include, version }: EntryOptions): string {
  const isDirectory = node.kind === "directory";
  const length = isDirectory ? "" : textElement("Content-Length", node.content?.length ?? 0);
  const times = include.has("timestamps") ? renderTimes(node) : "";
  const etag = include.has("etag") ? textElement("Etag", `"${bareETag(node.etag)}"`) : "";
  return element(
    isDirectory ? "Directory" : "File",
    nameElement("Name", node.name) +
      (version >= idsSince ? textElement("FileId", node.id) : "") +
      element("Properties", length + times + etag) +
      (include.has("attributes")
        ? textElement("Attributes", formatAttributes(node.attributes))
        : "") +
      (include.has("permissionkey") ? textElement("PermissionKey", node.permissionKey) : ""),
  );
}

/** Reads do not update the last access time. Unless a client has set it, the last write time is
 *  sent. */
function renderTimes({ created, lastAccess, lastWrite, change, etag }: NodeRecord): string {
  return (
    textElement("CreationTime", formatIso(created)) +
    textElement("LastAccessTime", formatIso(lastAccess ?? lastWrite)) +
    textElement("LastWriteTime", formatIso(lastWrite)) +
    textElement("ChangeTime", formatIso(change)) +
    textElement("Last-Modified", formatHttpDate(etag))
  );
}
