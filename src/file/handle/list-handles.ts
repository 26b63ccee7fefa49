import { formatHttpDate } from "../../base/dates.ts";
import { formatMarker, marker, maxResults, pageSize } from "../../operation/listing.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, header } from "../../protocol/params.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, nameElement, textElement } from "../../encoding/xml-writer.ts";
import { dataAccess } from "../locks/access.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { handlesOf, openedNodes, type ListedHandle } from "./open-handles.ts";

/** Lists the handles of SMB clients. learn.microsoft.com/rest/api/storageservices/list-handles */
export const listHandles = fileOperation({
  name: "List Handles",
  ids: ["Directory_ListHandles", "File_ListHandles"],
  route: { method: "GET", resource: "entry", query: { comp: "listhandles" } },
  since: "2018-11-09",
  params: {
    marker,
    maxResults,
    recursive: header("x-ms-recursive", boolean),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "l", resourceType: "co" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  fileAccess: presenceAccess,
  effect: "reads",
  success: { status: 200, headers: [] },
  reads: (view, { scope, target, input }) =>
    openedNodes(view, scope, target, { recursive: input.recursive ?? false }),
  decide: ({ input, readResult, version }) => {
    const from = BigInt(/^\d{1,20}$/.exec(input.marker?.[0] ?? "")?.[0] ?? "0");
    const all = handlesOf(readResult).filter(({ open }) => open.id >= from);
    const shown = all.slice(0, pageSize(input.maxResults));
    const next = all[shown.length];
    let entries = "";
    for (const handle of shown) entries += renderHandle(handle, version);
    const inner =
      textElement("Marker", input.marker && formatMarker(input.marker)) +
      textElement("MaxResults", input.maxResults) +
      element("Entries", entries) +
      textElement("NextMarker", next === undefined ? "" : formatMarker([String(next.open.id)]));
    return { body: xmlBody(element("EnumerationResults", inner)) };
  },
});

/** The bits of `dataAccess` with their names in the response. */
const rights = [
  ["Read", 1],
  ["Write", 2],
  ["Delete", 4],
] as const;

function renderHandle({ opened, open }: ListedHandle, version: string): string {
  const { node, path } = opened;
  const held = dataAccess(open.access);
  let list = "";
  for (const [name, bit] of rights) {
    if ((held & bit) !== 0) list += textElement("AccessRight", name);
  }
  const hasRights = version >= "2023-01-03" && list !== "";
  return element(
    "Handle",
    textElement("HandleId", open.id) +
      nameElement("Path", path.join("/")) +
      textElement("FileId", node.id) +
      textElement("ParentId", node.parent) +
      textElement("SessionId", open.session) +
      textElement("ClientIp", open.client) +
      textElement("OpenTime", formatHttpDate(open.openedAt)) +
      (hasRights ? element("AccessRightList", list) : ""),
  );
}
