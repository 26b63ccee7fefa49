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
import { loadLocalSource } from "../shared/local-source.ts";
import { fileBytesMax } from "../shared/limits.ts";
import { fitsQuota, quotaExceeded, usedBytes } from "../shared/quota.ts";
import { putNode } from "../shared/node-replies.ts";
import {
  keepsSourceTrailingDots,
  keepsTrailingDots,
  permissionActions,
  smbProperties,
} from "../shared/smb-params.ts";
import { readInheritedSddl } from "../shared/smb-properties.ts";
import {
  copiedNode,
  remoteSourceProperties,
  localSourceProperties,
  type SourceProperties,
} from "./copied-node.ts";
import {
  ignoresReadOnly,
  modeMode,
  ownerMode,
  permissionMode,
  setsArchive,
} from "./copy-params.ts";

/** A copy of a file in this server shares the stored bytes and is complete in the response. The
 *  bytes of any other source are transferred after the response.
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
  namedResources: [copySource],
  permission: {
    letters: "cw",
    resourceType: "o",
    overwrite: true,
    furtherActions: permissionActions,
  },
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
    localSource: await loadSource(view, source, input.keepsSourceTrailingDots),
    inherited: await readInheritedSddl(view, scope, input.smb),
  }),
  decide: ({ target, scope, address, input, readResult, source, newETag, now, newGuid, newId }) => {
    if (source === undefined) throw new Error("Copy File names a source");
    const readOnly = target !== undefined && isReadOnly(target);
    if (readOnly && input.ignoresReadOnly !== true) return fail("ReadOnlyAttribute");
    const id = newGuid();
    const copying = { id, source, now, shareName: address.share, freshId: target?.id ?? newId() };
    const plan = planCopy(readResult.localSource, { scope, copying });
    if ("wait" in plan) return plan;
    if (!plan.ok) return plan;
    const { original, content, copy, allocated, effects } = plan.value;
    const delta = allocated - (target?.allocated ?? 0);
    if (!fitsQuota(scope.share, readResult.used, delta)) return quotaExceeded;
    const copyTarget = {
      scope,
      target,
      newETag,
      freshId: copying.freshId,
      inherited: readResult.inherited,
    };
    const copied = copiedNode(original, input, copyTarget);
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

async function loadSource(
  view: RecordView,
  source: CopySource | undefined,
  keepsDots: boolean | undefined,
) {
  const localSource = await loadLocalSource(view, source, { keepsTrailingDots: keepsDots });
  if (localSource === undefined || !localSource.ok) return localSource;
  const { scope, node } = localSource.value;
  const key = node.permissionKey;
  const permission =
    key === undefined ? undefined : await view.get(permissions, { share: scope.share.id, key });
  return ok({ scope, node, permission });
}

type LoadedSource = Awaited<ReturnType<typeof loadSource>>;

interface CopyRequest {
  readonly id: string;
  readonly source: CopySource;
  readonly now: bigint;
  readonly shareName: string;
  readonly freshId: bigint;
}

/** The target of a copy as far as it depends on the source. */
interface CopyPlan {
  readonly original: SourceProperties;
  readonly content: ContentPlan;
  readonly copy: CopyState;
  readonly allocated: number;
  readonly effects: readonly Effect[];
}

function planCopy(
  localSource: LoadedSource,
  { scope, copying }: { scope: NodeScope; copying: CopyRequest },
) {
  const { source } = copying;
  if (source.kind === "fetched") return copyLater(scope, copying, source);
  if (localSource === undefined) throw new Error("a source of this service is loaded");
  return localSource.ok ? copyWithinServer(localSource.value, copying) : localSource;
}

function copyWithinServer(
  { scope, node, permission }: Extract<LoadedSource, { ok: true }>["value"],
  { id, source, now }: CopyRequest,
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
  const plan: CopyPlan = {
    original: localSourceProperties(node, permission),
    content: shareContent(content),
    copy: { id, source: source.url, status: "success", progress, completed: now },
    allocated,
    effects: reading.effects,
  };
  return ok(plan);
}

/** Plans a copy whose bytes are transferred after the response. Until then the target has its full
 *  length, reads as zeros and accepts no writes. */
function copyLater(
  { account, share }: NodeScope,
  { id, shareName, freshId }: CopyRequest,
  { url, otherService, properties }: Extract<CopySource, { kind: "fetched" }>,
): Result<CopyPlan> {
  const { length = 0 } = properties;
  if (length > fileBytesMax) return fail("RequestBodyTooLarge");
  const etag = properties.header("etag");
  const job = startTransfer({
    id,
    kind: "file-copy",
    scope: [account.id, shareName, share.id, freshId],
    account: account.id,
    url,
    headers: etag === undefined || etag.startsWith("W/") ? {} : { "if-match": etag },
    length: properties.length,
    own: otherService,
  });
  return ok({
    original: remoteSourceProperties(properties),
    content: empty(length),
    copy: { id, source: withoutSignature(url), status: "pending", progress: `0/${length}` },
    allocated: length,
    effects: [job],
  });
}
