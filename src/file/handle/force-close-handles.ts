import type { Effect } from "../../operation/effects.ts";
import { put, remove } from "../../operation/effects.ts";
import { formatMarker, marker } from "../../operation/listing.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, header, required } from "../../protocol/params.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/delete-directory.ts";
import { isIdle } from "../locks/lock-state.ts";
import { decideClose } from "../locks/opens.ts";
import { locks, nodes, rootId, type ShareRecord } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import { deleteNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { nodeKeyOf } from "../share-tree.ts";
import { openedNodes, type OpenedNode } from "./open-handles.ts";

/** Files whose handles one request closes; the marker leads to the rest. */
const filesClosedMax = 100;

const handleId = header("x-ms-handle-id", (text): bigint | "all" | undefined => {
  if (text === "*") return "all";
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
});

/** Their clients learn of it with the next thing they do.
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
  conditions: "none",
  lease: "none",
  etag: "none",
  fileAccess: presenceAccess,
  effect: "writes",
  acceptsSnapshot: true,
  success: {
    status: 200,
    headers: ["x-ms-number-of-handles-closed", "x-ms-number-of-handles-failed", "x-ms-marker"],
  },
  reads: async (view, { scope, target, input }) => {
    const opened = await openedNodes(view, scope, target, { recursive: input.recursive ?? false });
    const wanted = opened.filter((each) => closes(each, input.handleId));
    const now = wanted.slice(0, filesClosedMax);
    return { more: wanted.length > now.length, closing: await withFullness(view, scope, now) };
  },
  decide: ({ scope, input, readResult }) => {
    let closed = 0;
    const effects: Effect[] = [];
    for (const each of readResult.closing) {
      const result = closeHandles(scope.share, each, input.handleId);
      closed += result.closed;
      effects.push(...result.effects);
    }
    return {
      effects,
      headers: {
        "x-ms-number-of-handles-closed": String(closed),
        "x-ms-number-of-handles-failed": "0",
        "x-ms-marker": readResult.more ? formatMarker(["more"]) : undefined,
      },
    };
  },
});

function closes({ state }: OpenedNode, asked: bigint | "all"): boolean {
  return asked === "all" ? state.opens.length > 0 : state.opens.some(({ id }) => id === asked);
}

interface Closing extends OpenedNode {
  /** A directory with something in it stays, whatever its handles meant to do with it. */
  readonly stays: boolean;
}

function withFullness(
  view: RecordView,
  { share }: { readonly share: ShareRecord },
  opened: readonly OpenedNode[],
): Promise<readonly Closing[]> {
  return Promise.all(
    opened.map(async (each) => {
      const { id, kind } = each.node;
      const full = kind === "directory" && (await hasChildren(view, share.id, id));
      return { ...each, stays: id === rootId || full };
    }),
  );
}

function closeHandles(
  share: ShareRecord,
  { node, state, stays }: Closing,
  asked: bigint | "all",
): { readonly closed: number; readonly effects: readonly Effect[] } {
  const ids = new Set(asked === "all" ? state.opens.map(({ id }) => id) : [asked]);
  const result = decideClose(state, ids, { mayDelete: !stays });
  const after = result.state;
  const gone = result.gone && !stays;
  const key = { share: share.id, id: node.id };
  const kept = isIdle(after) || gone ? remove(locks, key) : put(locks, key, after);
  if (!gone) return { closed: ids.size, effects: [kept] };
  const place = { share, key: nodeKeyOf(share.id, node) };
  const { preserve, effects } = deleteNode(place, node);
  return { closed: ids.size, effects: [kept, ...preserve, remove(nodes, place.key), ...effects] };
}
