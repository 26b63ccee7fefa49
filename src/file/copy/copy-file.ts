import {
  empty,
  share as shareContent,
  emptyContent,
  type ContentPlan,
} from "../../content/content-ref.ts";
import { metadata, sourceConditions } from "../../operation/common-params.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { missingHeader, invalidQuery } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { checkSource } from "../../protocol/source-conditions.ts";
import {
  withoutSignature,
  type CopySource,
  type FetchedProperties,
} from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import { startTransfer, dropTransfer } from "../../operation/transfer.ts";
import {
  permissions,
  type CopyState,
  type NodeRecord,
  type PermissionRecord,
  shareBytes,
} from "../records.ts";
import { checkFileAccess, fileOperation, wholeFile } from "../file-operation.ts";
import { readAccess, replaceAccess, writeAccess } from "../locks/file-access.ts";
import type { NodeScope } from "../resources.ts";
import {
  archiveAttribute,
  isReadOnly,
  readInheritedSddl,
  resolveSmbProperties,
  type SmbProperties,
} from "../shared/smb-properties.ts";
import { keepsTrailingDots } from "../file-address.ts";
import { fileBytesMax, fitsQuota, quotaExceeded, usedBytes } from "../shared/limits.ts";
import { putNode, updateNode } from "../shared/node-replies.ts";
import {
  keepsSourceTrailingDots,
  permissionActions,
  smbProperties,
  type SmbInput,
} from "../shared/smb-params.ts";
import { decodeBase64 } from "../../base/base64.ts";
import type { Metadata, HttpHeaders } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import {
  boolean,
  header,
  oneOf,
  checked,
  query,
  required,
  text,
  type InputOf,
} from "../../protocol/params.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { loadLocalSource } from "../shared/range-params.ts";

/** Copy File and Abort Copy File. The bytes of a source in this server are shared with the target
 *  at once; those of any other are transferred later (`file/copy/transfer.ts`). */

/** Values of the headers that say whether a property of the copy comes from the source file or from
 *  the request (`override`, the default). */
const copyMode = oneOf("source", "override");

const params = {
  metadata,
  sourceConditions,
  permissionMode: header("x-ms-file-permission-copy-mode", copyMode),
  ignoresReadOnly: header("x-ms-file-copy-ignore-readonly", boolean),
  setsArchive: header("x-ms-file-copy-set-archive", boolean),
  /** Only NFS shares: whether the POSIX mode comes from the source or the request. */
  modeMode: header("x-ms-file-mode-copy-mode", copyMode),
  /** Only NFS shares: whether owner and group come from the source or the request. */
  ownerMode: header("x-ms-file-owner-copy-mode", copyMode),
  smb: smbProperties({ words: ["now", "source", "none"], requiredByOldVersions: false }),
  keepsTrailingDots,
  keepsSourceTrailingDots,
};
type CopyInput = InputOf<typeof params>;

/** The properties of a source, which the copy gets unless the request sets others. */
interface SourceProperties {
  readonly headers: HttpHeaders;
  readonly metadata: Metadata;
  /** SMB properties of a source in the File service of this server; absent for any other source. */
  readonly smb?: SmbProperties;
  /** Security descriptor of the source; undefined if it has none, or a well-known one, which is not
   *  stored. */
  readonly permission?: PermissionRecord | undefined;
}

interface CopyTarget {
  readonly scope: NodeScope;
  readonly target: NodeRecord | undefined;
  readonly newETag: Ticks;
  readonly freshId: bigint;
  /** Security descriptor of the parent directory (`readInheritedSddl`), in SDDL. */
  readonly inherited: string | undefined;
}

/** Builds the record that Copy File stores: the properties come from the source or from the
 *  request. Its caller adds the content and the state of the copy. */
function copiedNode(
  original: SourceProperties,
  options: CopyInput,
  { scope, target, newETag, freshId, inherited }: CopyTarget,
): Result<{ readonly node: NodeRecord; readonly effects: readonly Effect[] }> {
  const { share, parent, name } = scope;
  const input = resolveSourceKeyword(options, original);
  const location = { share, kind: "file", parent, present: undefined, now: newETag } as const;
  const resolved = resolveSmbProperties({ ...location, parentSddl: inherited, input });
  if (!resolved.ok) return resolved;
  const { properties, effects } = resolved.value;
  const archived =
    options.setsArchive === false
      ? properties.attributes & ~archiveAttribute
      : properties.attributes | (options.setsArchive === true ? archiveAttribute : 0);
  const kept = copyPermission(share.id, properties.permissionKey, options, original);
  return ok({
    effects: [...effects, ...kept],
    node: {
      id: target?.id ?? freshId,
      parent: parent.id,
      name,
      kind: "file",
      etag: newETag,
      since: share.epoch,
      ...properties,
      attributes: archived,
      metadata: options.metadata.length > 0 ? options.metadata : original.metadata,
      headers: original.headers,
      lease: target?.lease,
    },
  });
}

/** Replaces the keyword `source` by the properties of the source. A remote source has no SMB
 *  properties: then the keyword stays and has the effect of an absent value. */
function resolveSourceKeyword(
  { smb, permissionMode, modeMode, ownerMode }: CopyInput,
  original: SourceProperties,
): SmbInput {
  const source = original.smb;
  if (source === undefined) return smb;
  const key = source.permissionKey;
  return {
    ...smb,
    attributes: smb.attributes === "source" ? source.attributes : smb.attributes,
    created: smb.created === "source" ? source.created : smb.created,
    lastWrite: smb.lastWrite === "source" ? source.lastWrite : smb.lastWrite,
    change: smb.change === "source" ? source.change : smb.change,
    permission: permissionMode === "source" && key !== undefined ? { key } : smb.permission,
    posix: {
      mode: modeMode === "source" ? source.posix?.mode : smb.posix.mode,
      owner: ownerMode === "source" ? source.posix?.owner : smb.posix.owner,
      group: ownerMode === "source" ? source.posix?.group : smb.posix.group,
    },
  };
}

/** The effect that stores the descriptor of the source in the share of the target, because
 *  descriptors are stored per share; none if the copy does not take it from the source. */
function copyPermission(
  share: bigint,
  key: string | undefined,
  { permissionMode }: CopyInput,
  { permission }: SourceProperties,
): readonly Effect[] {
  if (permissionMode !== "source" || permission === undefined || key === undefined) return [];
  return [put(permissions, { share, key }, permission)];
}

const md5Bytes = 16;

/** Properties of a source outside the File service of this server, from the headers of its
 *  response. */
function remoteSourceProperties(fetched: FetchedProperties): SourceProperties {
  const md5 = decodeBase64(fetched.header("content-md5") ?? "");
  return {
    headers: {
      contentType: fetched.header("content-type") ?? defaultContentType,
      contentEncoding: fetched.header("content-encoding"),
      contentLanguage: fetched.header("content-language"),
      cacheControl: fetched.header("cache-control"),
      contentDisposition: fetched.header("content-disposition"),
      contentMd5: md5?.length === md5Bytes ? md5 : undefined,
    },
    metadata: fetched.metadata,
  };
}

/** A copy of a file in this server shares the stored bytes and is complete in the response. The
 *  bytes of any other source are transferred after the response.
 *  learn.microsoft.com/rest/api/storageservices/copy-file */
export const copyFile = fileOperation({
  name: "Copy File",
  ids: ["File_StartCopy"],
  route: { method: "PUT", resource: "file", headers: { "x-ms-copy-source": true } },
  params,
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
  event: "CopyFile",
  status: 202,
  reads: async (view, { scope, source, input }) => ({
    used: await usedBytes(view, scope.share),
    localSource: await loadSource(view, source, input),
    inherited: await readInheritedSddl(view, scope, input.smb),
  }),
  decide: ({ target, scope, address, input, readResult, source, newETag, now, newGuid, newId }) => {
    if (source === undefined) throw new Error("Copy File names a source");
    if (input.permissionMode === "override" && input.smb.permission === undefined) {
      return missingHeader("x-ms-file-permission");
    }
    const readOnly = target !== undefined && isReadOnly(target);
    if (readOnly && input.ignoresReadOnly !== true) return fail("ReadOnlyAttribute");
    const id = newGuid();
    const copying = { id, source, now, shareName: address.share, freshId: target?.id ?? newId() };
    const plan = planCopy(readResult.localSource, { scope, copying });
    if ("wait" in plan) return plan;
    if (!plan.ok) return plan;
    const { original, content, copy, allocated, length, effects } = plan.value;
    const grown = length - (target === undefined ? 0 : shareBytes(target));
    if (!fitsQuota(scope.share, readResult.used, grown)) return quotaExceeded;
    const copyTarget = {
      scope,
      target,
      newETag,
      freshId: copying.freshId,
      inherited: readResult.inherited,
    };
    const copied = copiedNode(original, input, copyTarget);
    if (!copied.ok) return copied;
    const next = { ...copied.value.node, content: emptyContent, allocated, counted: length, copy };
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
  { keepsSourceTrailingDots: keepsDots, sourceConditions: conditions }: CopyInput,
) {
  const localSource = await loadLocalSource(view, source, { keepsTrailingDots: keepsDots });
  if (localSource === undefined || !localSource.ok) return localSource;
  const { scope, node } = localSource.value;
  const met = checkSource(conditions, node, "copy");
  if (!met.ok) return met;
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

/** What Copy File stores of the source in its target: properties, content and lengths. */
interface CopyPlan {
  readonly original: SourceProperties;
  readonly content: ContentPlan;
  readonly copy: CopyState;
  readonly allocated: number;
  readonly length: number;
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
    original: { headers: node.headers ?? {}, metadata: node.metadata, smb: node, permission },
    content: shareContent(content),
    copy: { id, source: source.url, status: "success", progress, completed: now },
    allocated,
    length: content.length,
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
    length,
    effects: [job],
  });
}

const copyId = checked(required(query("copyid", text)), (value) => {
  const id = parseGuid(value);
  return id === undefined
    ? invalidQuery("copyid", value, "copyid needs to be valid Guid.")
    : ok(id);
});

/** Stops a pending copy and leaves the target as an empty file.
 *  learn.microsoft.com/rest/api/storageservices/abort-copy-file */
export const abortCopyFile = fileOperation({
  name: "Abort Copy File",
  ids: ["File_AbortCopy"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "copy" },
    headers: { "x-ms-copy-action": "abort" },
  },
  params: { copyId },
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  fileAccess: writeAccess,
  acceptsPendingCopy: true,
  event: "AbortCopyFile",
  status: 204,
  decide: ({ target, scope, input, newETag, now }) => {
    const { copy } = target;
    if (copy?.status !== "pending") return fail("NoPendingCopyOperation");
    if (copy.id !== input.copyId) return fail("CopyIdMismatch");
    const aborted = { ...copy, status: "aborted" as const, completed: now };
    const next = { ...target, etag: newETag, copy: aborted, allocated: 0, counted: 0 };
    const revised = updateNode(scope, { target, next, content: empty(0) });
    return { ...revised, effects: [...revised.effects, dropTransfer(copy.id)] };
  },
});
