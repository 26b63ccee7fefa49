import { emptyContent } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import { archiveAttribute, directoryAttribute } from "../shared/attributes.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { inheritPermission, parentSddl } from "../shared/inherited-permission.ts";
import { keepPermission } from "../shared/smb-properties.ts";
import type { FileOpenRequest } from "./file-open-request.ts";
import type { Found, FileTransaction } from "./file-transaction.ts";

/** Attributes that a file can keep; the others say what a thing is. */
export const keptAttributes = 0x2_3127;

interface Made {
  readonly node: NodeRecord;
  readonly effects: readonly Effect[];
}

/** A file or directory that a handle brings into being. */
export async function newNode({
  work,
  share,
  parent,
  wish,
}: {
  readonly work: FileTransaction;
  readonly share: ShareRecord;
  readonly parent: NodeRecord;
  readonly wish: FileOpenRequest;
}): Promise<Made> {
  const newETag = work.stampAfter(undefined);
  const isDirectory = wish.wants === "directory";
  const kind = isDirectory ? "directory" : "file";
  const inherited = await parentSddl(work.view, share, parent);
  const permission =
    wish.sddl === undefined
      ? inheritPermission({ share, parent, kind, parentSddl: inherited })
      : keepPermission(share.id, wish.sddl);
  const common = {
    id: work.newId(),
    parent: parent.id,
    name: wish.path.at(-1) ?? "",
    etag: newETag,
    since: share.epoch,
    created: newETag,
    lastWrite: newETag,
    change: newETag,
    permissionKey: permission.key,
    metadata: [],
  };
  const asked = wish.attributes & keptAttributes;
  const node: NodeRecord = isDirectory
    ? { ...common, kind: "directory", attributes: asked | directoryAttribute }
    : {
        ...common,
        kind: "file",
        attributes: asked | archiveAttribute,
        content: emptyContent,
        headers: { contentType: defaultContentType },
        allocated: 0,
      };
  return { node, effects: permission.effects };
}

/** A file whose bytes are replaced by none: it keeps its id, its creation and its permission. */
export function replacedNode(
  work: FileTransaction,
  { share, node }: Found,
  wish: FileOpenRequest,
): Made {
  const newETag = work.stampAfter(node.etag);
  const permission = wish.sddl === undefined ? undefined : keepPermission(share.id, wish.sddl);
  const next: NodeRecord = {
    ...node,
    etag: newETag,
    lastWrite: newETag,
    change: newETag,
    attributes: (wish.attributes & keptAttributes) | archiveAttribute,
    permissionKey: permission?.key ?? node.permissionKey,
    allocated: 0,
  };
  return { node: next, effects: permission?.effects ?? [] };
}
