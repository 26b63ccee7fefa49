import { formatHttpDate } from "../../base/dates.ts";
import { formatMarker, marker, maxResults, pageSize } from "../../operation/listing.ts";
import { noETag } from "../../operation/operation.ts";
import { boolean, header, required } from "../../protocol/params.ts";
import { elementOf, joined, rendered, xmlBodyOf } from "../../encoding/xml-body.ts";
import { element, nameElement, textElement } from "../../encoding/xml-writer.ts";
import { dataAccess } from "../locks/access.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import type { RecordView } from "../../operation/view.ts";
import type { LockState, Open } from "../locks/lock-state.ts";
import { locks, rootId, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { nodeById, pathOf } from "../share-tree.ts";
import type { Effect } from "../../operation/effects.ts";
import { hasChildren } from "../directory/directories.ts";
import { changedHandles, type NodeChange } from "../events.ts";
import { hasEventLog } from "../../operation/quotas.ts";
import { closeHandles, type CloseHandlesRequest } from "./close-handles.ts";

/** List Handles and Force Close Handles: REST operations on the files that SMB clients have open.
 *  An open is an entry in the lock state of its file. */

/** Lists the handles of SMB clients on a file or directory, and below it if `x-ms-recursive` is
 *  set. learn.microsoft.com/rest/api/storageservices/list-handles */
export const listHandles = fileOperation({
  name: "List Handles",
  ids: ["Directory_ListHandles", "File_ListHandles"],
  route: { method: "GET", resource: "entry", query: { comp: "listhandles" } },
  since: "2018-11-09",
  params: {
    marker,
    maxResults,
    recursive: header("x-ms-recursive", boolean),
  },
  permission: { letters: "l", resourceType: "co" },
  target: "must-exist",
  ...noETag,
  fileAccess: presenceAccess,
  event: "none",
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

/** The position in a marker of the client. A malformed one means the start of the list. */
function positionOf([file = "", handle = ""]: readonly string[] = []): HandlePosition {
  const ids = [file, handle];
  if (!ids.every((id) => /^\d{1,19}$/.test(id))) return { file: 0n, handle: 0n };
  return { file: BigInt(file), handle: BigInt(handle) };
}

/** The bits that `dataAccess` returns, with their names in the response. */
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

/** A file or directory with open handles, and its path, which the response contains. */
interface OpenedNode {
  readonly node: NodeRecord;
  readonly path: readonly string[];
  readonly state: LockState;
}

interface HandleScan {
  /** Whether to include the files below the target, if that is a directory. */
  readonly recursive: boolean;
  /** Lowest file id to examine: where a continued listing begins; 0 for all files. */
  readonly from: bigint;
  /** Selects lock states before the path of the file is read, which costs more. */
  readonly isWanted?: (state: LockState) => boolean;
}

/** Cost of reading an open file and the directories above it, in units of event-loop time (about 10
 *  µs; `base/loop-share.ts`). */
const unitsPerFile = 4;

/** The target of the request if it is open and, on request, all open files below it, in the order
 *  of their ids. Other requests run between the steps of the iteration. A caller that has enough
 *  files ends the iteration, so that a page costs no more than the files up to its end. A share
 *  snapshot has no handles. */
async function* openedNodes(
  view: RecordView,
  scope: NodeScope,
  target: NodeRecord,
  { recursive, from, isWanted = () => true }: HandleScan,
): AsyncIterable<OpenedNode> {
  if (scope.snapshot !== undefined) return;
  if (!recursive || target.kind !== "directory") {
    const { locks: state, components: path } = scope;
    if (state !== undefined && isWanted(state)) yield { node: target, path, state };
    return;
  }
  const share = scope.share.id;
  const { end } = locks.range([share]);
  for await (const batch of view.scan(locks, { start: locks.key({ share, id: from }), end })) {
    for (const entry of batch) {
      const wait = view.loop.spend(unitsPerFile);
      if (wait !== undefined) await wait;
      const { record: state } = entry;
      if (!isWanted(state)) continue;
      const node = await nodeById(view, share, locks.parts(entry.key)[1] as bigint);
      if (node === undefined) continue;
      const path = await pathOf(view, share, node);
      // A displaced file has no path; its handles are shown for the root, so they can be closed.
      if (target.id === rootId) yield { node, path: path ?? [node.name], state };
      else if (path && isWithin(path, scope.components)) yield { node, path, state };
    }
  }
}

function isWithin(path: readonly string[], directory: readonly string[]): boolean {
  return directory.every((name, index) => path[index]?.toUpperCase() === name.toUpperCase());
}

interface ListedHandle {
  readonly opened: OpenedNode;
  readonly open: Open;
}

/** A position in a list of handles: the ids of a file and of one of its handles. */
interface HandlePosition {
  readonly file: bigint;
  readonly handle: bigint;
}

/** Reads the handles for one page of List Handles, ordered by the ids of file and handle: from a
 *  position on, at most `limit`. */
async function readHandles(
  nodes: AsyncIterable<OpenedNode>,
  { file, handle }: HandlePosition,
  limit: number,
): Promise<readonly ListedHandle[]> {
  const found: ListedHandle[] = [];
  for await (const opened of nodes) {
    const first = opened.node.id === file ? handle : 0n;
    const opens = opened.state.opens.filter(({ id }) => id >= first);
    for (const open of opens.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
      found.push({ opened, open });
      if (found.length >= limit) return found;
    }
  }
  return found;
}

/** Most files whose handles one request closes, so that its transaction stays short. If more files
 *  match, the response has a marker, and the client repeats the request. */
const filesClosedMax = 100;

const handleId = header("x-ms-handle-id", (text): bigint | "all" | undefined => {
  if (text === "*") return "all";
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
});

/** Closes handles of SMB clients. The next request of a client on a closed handle fails.
 *  learn.microsoft.com/rest/api/storageservices/force-close-handles */
export const forceCloseHandles = fileOperation({
  name: "Force Close Handles",
  ids: ["Directory_ForceCloseHandles", "File_ForceCloseHandles"],
  route: { method: "PUT", resource: "entry", query: { comp: "forceclosehandles" } },
  since: "2018-11-09",
  params: {
    handleId: required(handleId),
    marker,
    recursive: header("x-ms-recursive", boolean),
  },
  permission: { letters: "w", resourceType: "co" },
  target: "must-exist",
  ...noETag,
  fileAccess: presenceAccess,
  acceptsSnapshot: true,
  event: "decided",
  reads: async (view, { scope, target, input }) => {
    const isWanted = (state: LockState) => closes(state, input.handleId);
    const scan = { recursive: input.recursive ?? false, from: 0n, isWanted };
    const wanted: OpenedNode[] = [];
    for await (const opened of openedNodes(view, scope, target, scan)) {
      wanted.push(opened);
      if (wanted.length > filesClosedMax) break;
    }
    const now = wanted.slice(0, filesClosedMax);
    const closing = await withFacts(view, scope, now, input.handleId);
    return { more: wanted.length > now.length, closing };
  },
  decide: ({ scope: { share }, input, now, readResult }) => {
    let closed = 0;
    const effects: Effect[] = [];
    const event: NodeChange[] = [];
    for (const { node, state, ...facts } of readResult.closing) {
      const handles = closedHandles(state, input.handleId);
      const file = { share: share.id, file: node.id };
      const result = closeHandles(file, { share, node, locks: state, handles, ...facts, now });
      closed += handles.size;
      effects.push(...result.effects);
      event.push(...result.changes);
    }
    return {
      effects,
      event,
      headers: {
        "x-ms-number-of-handles-closed": String(closed),
        "x-ms-number-of-handles-failed": "0",
        // Only says that there is more: the repeated request finds the next files first, because
        // the handles of these are closed.
        "x-ms-marker": readResult.more ? formatMarker(["more"]) : undefined,
      },
    };
  },
});

/** Whether Force Close Handles closes a handle of a file: any, or that of the requested id. */
function closes({ opens }: LockState, requestedId: bigint | "all"): boolean {
  return requestedId === "all" ? opens.length > 0 : opens.some(({ id }) => id === requestedId);
}

function closedHandles({ opens }: LockState, requestedId: bigint | "all"): ReadonlySet<bigint> {
  return new Set(requestedId === "all" ? opens.map(({ id }) => id) : [requestedId]);
}

/** An open file, with the facts that `closeHandles` needs (`withFacts`). */
type ClosingNode = OpenedNode & Pick<CloseHandlesRequest, "hasChildren" | "changed">;

/** Adds whether a directory has entries, because it is not deleted then, and, for the event log of
 *  the account, through which of the handles the content was changed. */
function withFacts(
  view: RecordView,
  scope: NodeScope,
  opened: readonly OpenedNode[],
  requestedId: bigint | "all",
): Promise<readonly ClosingNode[]> {
  const share = scope.share.id;
  return Promise.all(
    opened.map(async (each) => {
      const { id, kind } = each.node;
      const handles = hasEventLog(scope) ? closedHandles(each.state, requestedId) : [];
      return {
        ...each,
        changed: await changedHandles(view, { share, file: id }, handles),
        hasChildren: kind === "directory" && (await hasChildren(view, share, id)),
      };
    }),
  );
}
