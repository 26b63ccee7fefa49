import { decodeBase64 } from "../../base/base64.ts";
import { put, type Effect } from "../../operation/effects.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { ok, type Result } from "../../protocol/result.ts";
import type { FetchedProperties } from "../../operation/source.ts";
import type { Ticks } from "../../base/ticks.ts";
import {
  permissions,
  type HttpHeaders,
  type NodeRecord,
  type PermissionRecord,
} from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { archiveAttribute } from "../shared/attributes.ts";
import { defaultContentType } from "../shared/http-headers.ts";
import type { SmbInput } from "../shared/smb-params.ts";
import { resolveSmbProperties, type SmbProperties } from "../shared/smb-properties.ts";

/** Properties that a copy takes from its source. */
export interface SourceProperties {
  readonly headers: HttpHeaders;
  readonly metadata: Metadata;
  /** SMB properties of a source in the File service of this server; absent for any other source. */
  readonly smb?: SmbProperties;
  /** Security descriptor of the source; undefined if it has none, or a well-known one, which is not
   *  stored. */
  readonly permission?: PermissionRecord | undefined;
}

/** The parameters of Copy File that decide which properties the target gets. */
export interface CopyOptions {
  readonly metadata: Metadata;
  readonly smb: SmbInput;
  readonly permissionMode: "source" | "override" | undefined;
  readonly setsArchive: boolean | undefined;
}

interface CopyTarget {
  readonly scope: NodeScope;
  readonly target: NodeRecord | undefined;
  readonly newETag: Ticks;
  readonly freshId: bigint;
  /** Security descriptor of the parent directory (`readInheritedSddl`), in SDDL. */
  readonly inherited: string | undefined;
}

/** The record of the target of a copy, without its content and copy state. */
export function copiedNode(
  original: SourceProperties,
  options: CopyOptions,
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
  { smb, permissionMode }: CopyOptions,
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
      mode: smb.posix.mode ?? source.posix?.mode,
      owner: smb.posix.owner ?? source.posix?.owner,
      group: smb.posix.group ?? source.posix?.group,
    },
  };
}

/** Security descriptors are stored per share, so the one of the source is stored again in the share
 *  of the target. */
function copyPermission(
  share: bigint,
  key: string | undefined,
  { permissionMode }: CopyOptions,
  { permission }: SourceProperties,
): readonly Effect[] {
  if (permissionMode !== "source" || permission === undefined || key === undefined) return [];
  return [put(permissions, { share, key }, permission)];
}

export function localSourceProperties(
  node: NodeRecord,
  permission: PermissionRecord | undefined,
): SourceProperties {
  const { headers = {}, metadata } = node;
  return { headers, metadata, smb: node, permission };
}

const md5Bytes = 16;

/** Properties of a source outside the File service of this server, from the headers of its
 *  response. */
export function remoteSourceProperties({ header, metadata }: FetchedProperties): SourceProperties {
  const md5 = decodeBase64(header("content-md5") ?? "");
  return {
    headers: {
      contentType: header("content-type") ?? defaultContentType,
      contentEncoding: header("content-encoding"),
      contentLanguage: header("content-language"),
      cacheControl: header("cache-control"),
      contentDisposition: header("content-disposition"),
      contentMd5: md5?.length === md5Bytes ? md5 : undefined,
    },
    metadata,
  };
}
