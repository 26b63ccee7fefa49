import { formatHttpDate, formatIso } from "../../core/dates.ts";
import { bareETag } from "../../core/etag.ts";
import { element, nameElement, textElement } from "../../core/xml-writer.ts";
import type { NodeRecord } from "../records.ts";
import { formatAttributes } from "../shared/attributes.ts";

export type Detail = "timestamps" | "etag" | "attributes" | "permissionkey";

interface EntryOptions {
  readonly include: ReadonlySet<Detail>;
  readonly version: string;
}

export function renderEntry(node: NodeRecord, { include, version }: EntryOptions): string {
  const isDirectory = node.kind === "directory";
  const length = isDirectory ? "" : textElement("Content-Length", node.content?.length ?? 0);
  const times = include.has("timestamps") ? renderTimes(node) : "";
  const etag = include.has("etag") ? textElement("Etag", `"${bareETag(node.etag)}"`) : "";
  return element(
    isDirectory ? "Directory" : "File",
    nameElement("Name", node.name) +
      (version >= "2020-10-02" ? textElement("FileId", node.id) : "") +
      element("Properties", length + times + etag) +
      (include.has("attributes")
        ? textElement("Attributes", formatAttributes(node.attributes))
        : "") +
      (include.has("permissionkey") ? textElement("PermissionKey", node.permissionKey) : ""),
  );
}

/** Reading is not noted anywhere: the last access is the last write, unless a client set it. */
function renderTimes({ created, lastAccess, lastWrite, change, etag }: NodeRecord): string {
  return (
    textElement("CreationTime", formatIso(created)) +
    textElement("LastAccessTime", formatIso(lastAccess ?? lastWrite)) +
    textElement("LastWriteTime", formatIso(lastWrite)) +
    textElement("ChangeTime", formatIso(change)) +
    textElement("Last-Modified", formatHttpDate(etag))
  );
}
