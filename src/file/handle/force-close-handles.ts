import type { Effect } from "../../operation/effects.ts";
import { formatMarker, marker } from "../../operation/listing.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { boolean, header, required } from "../../protocol/params.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/delete-directory.ts";
import type { ShareRecord } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import type { LockState } from "../locks/lock-state.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { closeHandles } from "./close-handles.ts";
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
    return { more: wanted.length > now.length, closing: await withChildren(view, scope, now) };
  },
  decide: ({ scope: { share }, input, now, readResult }) => {
    let closed = 0;
    const effects: Effect[] = [];
    for (const { node, state, hasChildren: isFull } of readResult.closing) {
      const { handleId: asked } = input;
      const handles = new Set(asked === "all" ? state.opens.map(({ id }) => id) : [asked]);
      const closing = { share, node, locks: state, handles, hasChildren: isFull, now };
      closed += handles.size;
      effects.push(...closeHandles(share.id, closing).effects);
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

/** Whether the file has a handle that the request closes. */
function closes({ opens }: LockState, asked: bigint | "all"): boolean {
  return asked === "all" ? opens.length > 0 : opens.some(({ id }) => id === asked);
}

interface ClosingNode extends OpenedNode {
  readonly hasChildren: boolean;
}

function withChildren(
  view: RecordView,
  { share }: { readonly share: ShareRecord },
  opened: readonly OpenedNode[],
): Promise<readonly ClosingNode[]> {
  return Promise.all(
    opened.map(async (each) => {
      const { id, kind } = each.node;
      const isFull = kind === "directory" && (await hasChildren(view, share.id, id));
      return { ...each, hasChildren: isFull };
    }),
  );
}
