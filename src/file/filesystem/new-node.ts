import { emptyContent } from "../../content/content-ref.ts";
import type { Ticks } from "../../base/ticks.ts";
import { nextETag } from "../../protocol/conditions.ts";
import type { Effect } from "../../operation/effects.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import { archiveAttribute, directoryAttribute } from "../shared/attributes.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { inheritPermission } from "../shared/inherited-permission.ts";
import { storePermission } from "../shared/smb-properties.ts";
import type { FileOpenRequest } from "./file-open-request.ts";
import type { LoadedNode } from "./handle-operation.ts";

/** Attribute bits that a client can set. The directory attribute follows from the kind of the
 *  file. */
export const settableAttributes = 0x2_3127;

interface NodeWithEffects {
  readonly node: NodeRecord;
  readonly effects: readonly Effect[];
}

/** The record of a file or directory that an SMB open creates. */
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
