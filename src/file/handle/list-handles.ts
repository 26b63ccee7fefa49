import { formatHttpDate } from "../../base/dates.ts";
import { formatMarker, marker, maxResults, pageSize } from "../../operation/listing.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { boolean, header } from "../../protocol/params.ts";
import { elementOf, joined, rendered, xmlBodyOf } from "../../encoding/xml-body.ts";
import { element, nameElement, textElement } from "../../encoding/xml-writer.ts";
import { dataAccess } from "../locks/access.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { openedNodes, readHandles } from "./open-handles.ts";
import type { HandlePosition, ListedHandle } from "./open-handles.ts";

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
  ...noETag,
  fileAccess: presenceAccess,
  effect: "reads",
  event: "none",
  success: { status: 200, headers: [] },
  reads: (view, { scope, target, input }) => {
    const position = positionOf(input.marker);
    const recursive = input.recursive ?? false;
    const nodes = openedNodes(view, scope, target, { recursive, from: position.file });
    return readHandles(nodes, position, pageSize(input.maxResults) + 1);
  },
  decide: ({ input, readResult, version }) => {
    const shown = readResult.slice(0, pageSize(input.maxResults));
    const next = readResult[shown.length];
    const inner = joined(
      textElement("Marker", input.marker && formatMarker(input.marker)),
      textElement("MaxResults", input.maxResults),
      elementOf(
        "Entries",
        rendered(shown, (handle) => renderHandle(handle, version)),
      ),
      textElement("NextMarker", next === undefined ? "" : markerOf(next)),
    );
    return { body: xmlBodyOf(elementOf("EnumerationResults", inner)) };
  },
});

function markerOf({ opened, open }: ListedHandle): string {
  return formatMarker([String(opened.node.id), String(open.id)]);
}

/** A marker of another form is the start of the list. */
function positionOf([file = "", handle = ""]: readonly string[] = []): HandlePosition {
  const ids = [file, handle];
  if (!ids.every((id) => /^\d{1,19}$/.test(id))) return { file: 0n, handle: 0n };
  return { file: BigInt(file), handle: BigInt(handle) };
}

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
