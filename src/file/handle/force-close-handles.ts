import type { Effect } from "../../operation/effects.ts";
import { formatMarker, marker } from "../../operation/listing.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { boolean, header, required } from "../../protocol/params.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/delete-directory.ts";
import { changedHandles, type NodeChange } from "../events.ts";
import type { NodeScope } from "../resources.ts";
import { hasEventLog } from "../../operation/quotas.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import type { LockState } from "../locks/lock-state.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { closeHandles, type CloseHandlesRequest } from "./close-handles.ts";
import { openedNodes, type OpenedNode } from "./open-handles.ts";

/** Files whose handles one request closes. If more files match, the response has a marker, and the
 *  client repeats the request. */
const filesClosedMax = 100;

/** A handle id, or `*` for all handles. */
const handleId = header("x-ms-handle-id", (text): bigint | "all" | undefined => {
  if (text === "*") return "all";
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
});

/** Closes handles of SMB clients, which get an error with their next request on such a handle.
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
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "w", resourceType: "co" },
  target: "must-exist",
  ...noETag,
  fileAccess: presenceAccess,
  effect: "writes",
  acceptsSnapshot: true,
  event: "decided",
  success: {
    status: 200,
    headers: ["x-ms-number-of-handles-closed", "x-ms-number-of-handles-failed", "x-ms-marker"],
  },
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
      const result = closeHandles(share.id, { share, node, locks: state, handles, ...facts, now });
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
        "x-ms-marker": readResult.more ? formatMarker(["more"]) : undefined,
      },
    };
  },
});

/** Whether the file has a handle that the request closes. */
function closes({ opens }: LockState, asked: bigint | "all"): boolean {
  return asked === "all" ? opens.length > 0 : opens.some(({ id }) => id === asked);
}

function closedHandles({ opens }: LockState, asked: bigint | "all"): ReadonlySet<bigint> {
  return new Set(asked === "all" ? opens.map(({ id }) => id) : [asked]);
}

type ClosingNode = OpenedNode & Pick<CloseHandlesRequest, "hasChildren" | "changed">;

function withFacts(
  view: RecordView,
  scope: NodeScope,
  opened: readonly OpenedNode[],
  asked: bigint | "all",
): Promise<readonly ClosingNode[]> {
  const share = scope.share.id;
  return Promise.all(
    opened.map(async (each) => {
      const { id, kind } = each.node;
      const handles = hasEventLog(scope) ? closedHandles(each.state, asked) : [];
      return {
        ...each,
        changed: await changedHandles(view, { share, file: id }, handles),
        hasChildren: kind === "directory" && (await hasChildren(view, share, id)),
      };
    }),
  );
}
