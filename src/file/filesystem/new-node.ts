import { emptyContent } from "../../core/content-ref.ts";
import type { Effect } from "../../core/effects.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import { archiveAttribute, directoryAttribute } from "../shared/attributes.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { inheritPermission, parentSddl } from "../shared/inherited-permission.ts";
import { keepPermission } from "../shared/smb-properties.ts";
import type { OpenWish } from "./open-wish.ts";
import type { Found, Work } from "./work.ts";

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
  readonly work: Work;
  readonly share: ShareRecord;
  readonly parent: NodeRecord;
  readonly wish: OpenWish;
}): Promise<Made> {
  const stamp = work.stampAfter(undefined);
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
    etag: stamp,
    since: share.epoch,
    created: stamp,
    lastWrite: stamp,
    change: stamp,
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
export function replacedNode(work: Work, { share, node }: Found, wish: OpenWish): Made {
  const stamp = work.stampAfter(node.etag);
  const permission = wish.sddl === undefined ? undefined : keepPermission(share.id, wish.sddl);
  const next: NodeRecord = {
    ...node,
    etag: stamp,
    lastWrite: stamp,
    change: stamp,
    attributes: (wish.attributes & keptAttributes) | archiveAttribute,
    permissionKey: permission?.key ?? node.permissionKey,
    allocated: 0,
  };
  return { node: next, effects: permission?.effects ?? [] };
}
