import { emptyContent, type ContentPlan } from "../../content/content-ref.ts";
import { put, type Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { nodes, type NodeRecord, type ShareRecord } from "../records.ts";
import { putNode, updateNode } from "../shared/node-replies.ts";
import { nodeKeyOf } from "../share-tree.ts";
import type { LoadedNode } from "./handle-operation.ts";
import { nextETag } from "../../protocol/conditions.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import { archiveAttribute, directoryAttribute, storePermission } from "../shared/smb-properties.ts";
import { inheritPermission } from "../shared/inherited-permission.ts";
import type { FileOpenRequest } from "./open.ts";

/** Changes of file nodes as effects, for SMB operations. REST operations express the same changes
 *  as replies (`file/shared/node-replies.ts`). */

/** The effects that store a changed file node; its name and directory stay. An earlier version is
 *  kept for share snapshots. */
export function changeNode(
  { share, key, node: target }: LoadedNode,
  next: NodeRecord,
  content?: ContentPlan,
): readonly Effect[] {
  const reply = updateNode({ share, key }, { target, next, content });
  return [...reply.preserve, put(nodes, key, reply.put, content), ...reply.effects];
}

/** The effects that create a file node, and update the times of its directory. */
export function addEntry(
  { share, key, node: next }: LoadedNode,
  { parent, now, content }: { parent: NodeRecord; now: Ticks; content?: ContentPlan | undefined },
): readonly Effect[] {
  const reply = putNode({ share, key }, { target: undefined, next });
  const added = [...reply.preserve, put(nodes, key, reply.put, content), ...reply.effects];
  return [...added, ...entriesChanged(share, parent, now)];
}

/** Updates the times of a directory whose entries changed, as Windows and Samba do. Only for SMB:
 *  over REST, Azure Files leaves the directory unchanged. Its ETag and Last-Modified never
 *  change. */
export function entriesChanged(
  share: ShareRecord,
  directory: NodeRecord,
  now: Ticks,
): readonly Effect[] {
  const key = nodeKeyOf(share.id, directory);
  const next = { ...directory, lastWrite: now, change: now };
  return changeNode({ share, key, node: directory }, next);
}

/** The attribute bits that an SMB client can set; others in a request are ignored. The directory
 *  attribute is not among them, because it follows from the kind of the file. */
export const settableAttributes = 0x2_3127;

interface NodeWithEffects {
  readonly node: NodeRecord;
  readonly effects: readonly Effect[];
}

/** The record of a file that an SMB open creates, and the effects that store its permission. */
export function newNode({
  share,
  parent,
  inherited,
  request,
  now,
  id,
}: {
  readonly share: ShareRecord;
  readonly parent: NodeRecord;
  /** Security descriptor of the parent directory (`readParentSddl`), in SDDL. */
  readonly inherited: string | undefined;
  readonly request: FileOpenRequest;
  readonly now: Ticks;
  readonly id: bigint;
}): NodeWithEffects {
  const newETag = nextETag(now, undefined);
  const isDirectory = request.wants === "directory";
  const kind = isDirectory ? "directory" : "file";
  const permission =
    request.sddl === undefined
      ? inheritPermission({ share, parent, kind, parentSddl: inherited })
      : storePermission(share.id, request.sddl);
  const common = {
    id,
    parent: parent.id,
    name: request.path.at(-1) ?? "",
    etag: newETag,
    since: share.epoch,
    created: newETag,
    lastWrite: newETag,
    change: newETag,
    permissionKey: permission.key,
    metadata: [],
  };
  const requested = request.attributes & settableAttributes;
  const node: NodeRecord = isDirectory
    ? { ...common, kind: "directory", attributes: requested | directoryAttribute }
    : {
        ...common,
        kind: "file",
        attributes: requested | archiveAttribute,
        content: emptyContent,
        headers: { contentType: defaultContentType },
        allocated: 0,
        counted: 0,
      };
  return { node, effects: permission.effects };
}

/** The record of a file after an SMB open has discarded its bytes. It keeps its id and creation
 *  time, and its permission unless the request has one. */
export function replacedNode(
  { share, node }: LoadedNode,
  { sddl, attributes }: FileOpenRequest,
  now: Ticks,
): NodeWithEffects {
  const newETag = nextETag(now, node.etag);
  const permission = sddl === undefined ? undefined : storePermission(share.id, sddl);
  const next: NodeRecord = {
    ...node,
    etag: newETag,
    lastWrite: newETag,
    change: newETag,
    attributes: (attributes & settableAttributes) | archiveAttribute,
    permissionKey: permission?.key ?? node.permissionKey,
    allocated: 0,
    counted: 0,
  };
  return { node: next, effects: permission?.effects ?? [] };
}
