import { empty, whole } from "../../content/content-ref.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { nextETag } from "../../protocol/conditions.ts";
import type { TransferHandler, TransferJob } from "../../operation/transfer-handler.ts";
import type { RecordView } from "../../operation/view.ts";
import { serverNodeEvents } from "../events.ts";
import {
  nodes,
  shares,
  type CopyState,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  shareBytes,
} from "../records.ts";
import { keepForSnapshots, useBytes } from "../shared/node-replies.ts";
import { nodeById, nodeKeyOf } from "../share-tree.ts";

/** Completes copies whose source is not a file of this server: a blob of this server, or any other
 *  URL. A background task (`http/source/transfers.ts`) reads the source after the response to Copy
 *  File, and calls `fileCopy`. */

/** The file that a pending copy fills, and its record as the transfer finds it. */
interface PendingCopy {
  readonly share: ShareRecord;
  readonly key: NodeKey;
  readonly node: NodeRecord;
  readonly copy: CopyState;
}

/** Finds the target of a transfer by its id, because it may have been renamed. Undefined if the
 *  file or its share was deleted, or the copy was aborted or replaced by another. */
async function findPendingCopy(
  view: RecordView,
  job: TransferJob,
): Promise<PendingCopy | undefined> {
  const [account, name, id, file] = job.scope as [bigint, string, bigint, bigint];
  const share = await view.get(shares, { account, name });
  if (share?.id !== id) return undefined;
  const node = await nodeById(view, share.id, file);
  const copy = node?.copy;
  if (node === undefined || copy?.id !== job.id || copy.status !== "pending") return undefined;
  return { share, key: nodeKeyOf(share.id, node), node, copy };
}

/** Stores, in the record of the target file, the progress and the result of a transfer that Copy
 *  File started. Called by the background task (`http/source/transfers.ts`). */
export const fileCopy: TransferHandler = {
  progress: async (view, job, copiedBytes) => {
    const pending = await findPendingCopy(view, job);
    if (pending === undefined) return undefined;
    const { key, node, copy } = pending;
    const progress = `${copiedBytes}/${job.length ?? copiedBytes}`;
    return [put(nodes, key, { ...node, copy: { ...copy, progress } })];
  },
  finish: async (view, job, end) => {
    const pending = await findPendingCopy(view, job);
    if (pending === undefined) return undefined;
    const { copy } = pending;
    const completed = view.now;
    if (end.ended === "failed") {
      const failed = { ...copy, status: "failed" as const, completed };
      return endCopy(pending, { copy: failed, allocated: 0, counted: 0 });
    }
    const { length } = end.received;
    const done = {
      ...copy,
      status: "success" as const,
      progress: `${length}/${length}`,
      completed,
    };
    const change = { copy: done, allocated: length, counted: length };
    const effects = endCopy(pending, change, whole(end.received));
    const { share } = pending;
    const node = { ...pending.node, etag: nextETag(completed, pending.node.etag) };
    const copied = { api: "CopyFile", node, contentLength: length } as const;
    return [...effects, ...(await serverNodeEvents(view, share.id, [copied]))];
  },
};

function endCopy(
  { share, key, node }: PendingCopy,
  change: { readonly copy: CopyState; readonly allocated: number; readonly counted: number },
  content = empty(0),
): readonly Effect[] {
  const etag = nextETag(change.copy.completed ?? node.etag, node.etag);
  return [
    ...keepForSnapshots({ share, key }, node),
    put(nodes, key, { ...node, ...change, etag, since: share.epoch }, content),
    ...useBytes(share.id, change.counted - shareBytes(node)),
  ];
}
