import { empty, share as shareContent } from "../../content/plan.ts";
import { metadata } from "../../operation/common-params.ts";
import { emptyContent, type ContentPlan } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { noBody } from "../../operation/operation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { withoutSignature, type CopySource } from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import { startTransfer } from "../../operation/transfer.ts";
import { permissions, type CopyState } from "../records.ts";
import { checkFileAccess, fileOperation, wholeFile } from "../file-operation.ts";
import { readAccess, replaceAccess } from "../locks/file-access.ts";
import type { NodeScope } from "../resources.ts";
import { isReadOnly } from "../shared/attributes.ts";
import { loadOwnSource } from "../shared/own-source.ts";
import { fileBytesMax } from "../shared/limits.ts";
import { fitsQuota, quotaExceeded, usedBytes } from "../shared/quota.ts";
import { putNode } from "../shared/node-replies.ts";
import { keepsSourceTrailingDots, keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import { inheritedFrom } from "../shared/smb-properties.ts";
import { copiedNode, originalFound, originalOf, type Original } from "./copied-node.ts";
import {
  ignoresReadOnly,
  modeMode,
  ownerMode,
  permissionMode,
  setsArchive,
} from "./copy-params.ts";

/** A copy within this server shares the stored bytes and completes at once; from elsewhere the
 *  bytes are transferred after the response.
 *  learn.microsoft.com/rest/api/storageservices/copy-file */
export const copyFile = fileOperation({
  name: "Copy File",
  ids: ["File_StartCopy"],
  route: { method: "PUT", resource: "file", headers: { "x-ms-copy-source": true } },
  since: "2015-02-21",
  params: {
    metadata,
    permissionMode,
    ignoresReadOnly,
    setsArchive,
    modeMode,
    ownerMode,
    smb: smbProperties({ words: ["now", "source", "none"], requiredOnce: false }),
    keepsTrailingDots,
    keepsSourceTrailingDots,
  },
  body: noBody,
  names: [copySource],
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...replaceAccess,
    range: wholeFile,
  },
  effect: "writes",
  success: { status: 202, headers: ["x-ms-copy-id", "x-ms-copy-status"] },
  reads: async (view, { scope, source, input }) => ({
    used: await usedBytes(view, scope.share),
    own: await loadOriginal(view, source, input.keepsSourceTrailingDots),
    inherited: await inheritedFrom(view, scope, input.smb),
  }),
  decide: ({ target, scope, address, input, readResult, source, newETag, now, newGuid, newId }) => {
    if (source === undefined) throw new Error("Copy File names a source");
    const readOnly = target !== undefined && isReadOnly(target);
    if (readOnly && input.ignoresReadOnly !== true) return fail("ReadOnlyAttribute");
    const id = newGuid();
    const copying = { id, source, now, shareName: address.share, freshId: target?.id ?? newId() };
    const taken = copyContent(readResult.own, { scope, copying });
    if ("wait" in taken) return taken;
    if (!taken.ok) return taken;
    const { original, content, copy, allocated, effects } = taken.value;
    const delta = allocated - (target?.allocated ?? 0);
    if (!fitsQuota(scope.share, readResult.used, delta)) return quotaExceeded;
    const moment = {
      scope,
      target,
      newETag,
      freshId: copying.freshId,
      inherited: readResult.inherited,
    };
    const copied = copiedNode(original, input, moment);
    if (!copied.ok) return copied;
    const next = { ...copied.value.node, content: emptyContent, allocated, copy };
    const placed = putNode(scope, { target, next, content });
    return {
      ...placed,
      effects: [...placed.effects, ...copied.value.effects, ...effects],
      headers: { "x-ms-copy-id": id, "x-ms-copy-status": copy.status },
    };
  },
});

async function loadOriginal(
  view: RecordView,
  source: CopySource | undefined,
  keepsDots: boolean | undefined,
) {
  const own = await loadOwnSource(view, source, { keepsTrailingDots: keepsDots });
  if (own === undefined || !own.ok) return own;
  const { scope, node } = own.value;
  const key = node.permissionKey;
  const permission =
    key === undefined ? undefined : await view.get(permissions, { share: scope.share.id, key });
  return ok({ scope, node, permission });
}

type Own = Awaited<ReturnType<typeof loadOriginal>>;

interface Copying {
  readonly id: string;
  readonly source: CopySource;
  readonly now: bigint;
  readonly shareName: string;
  readonly freshId: bigint;
}

interface CopiedContent {
  readonly original: Original;
  readonly content: ContentPlan;
  readonly copy: CopyState;
  readonly allocated: number;
  readonly effects: readonly Effect[];
}

function copyContent(own: Own, { scope, copying }: { scope: NodeScope; copying: Copying }) {
  const { source } = copying;
  if (source.kind === "elsewhere") return copyLater(scope, copying, source);
  if (own === undefined) throw new Error("a source of this service is loaded");
  return own.ok ? copyWithinServer(own.value, copying) : own;
}

function copyWithinServer(
  { scope, node, permission }: Extract<Own, { ok: true }>["value"],
  { id, source, now }: Copying,
) {
  if (node.kind !== "file") return fail("ResourceNotFound");
  const { content = emptyContent, allocated = 0 } = node;
  const reading = checkFileAccess(readAccess, {
    locks: scope.locks,
    share: scope.share.id,
    id: node.id,
    now,
    span: wholeFile({}, node),
  });
  if ("stop" in reading) return reading.stop;
  const progress = `${content.length}/${content.length}`;
  const taken: CopiedContent = {
    original: originalOf(node, permission),
    content: shareContent(content),
    copy: { id, source: source.url, status: "success", progress, completed: now },
    allocated,
    effects: reading.effects,
  };
  return ok(taken);
}

/** The target exists at once, filled with zeros; until the transfer ends it accepts no writes. */
function copyLater(
  { account, share }: NodeScope,
  { id, shareName, freshId }: Copying,
  { url, own, found }: Extract<CopySource, { kind: "elsewhere" }>,
): Result<CopiedContent> {
  const { length = 0 } = found;
  if (length > fileBytesMax) return fail("RequestBodyTooLarge");
  const etag = found.header("etag");
  const job = startTransfer({
    id,
    kind: "file-copy",
    scope: [account.id, shareName, share.id, freshId],
    url,
    headers: etag === undefined || etag.startsWith("W/") ? {} : { "if-match": etag },
    length: found.length,
    own,
  });
  return ok({
    original: originalFound(found),
    content: empty(length),
    copy: { id, source: withoutSignature(url), status: "pending", progress: `0/${length}` },
    allocated: length,
    effects: [job],
  });
}
