import type { Awaitable } from "../../base/awaitable.ts";
import { formatIso } from "../../base/dates.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { unsupportedHeader } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  permissions,
  rootId,
  type NodeKind,
  type NodeRecord,
  type PosixProperties,
  type ShareRecord,
} from "../records.ts";
import { archiveAttribute, directoryAttribute, formatAttributes } from "./attributes.ts";
import { inheritPermission, parentSddl } from "./inherited-permission.ts";
import { normalSddl, permissionKeyOf } from "./sddl.ts";
import type { PermissionInput, PosixInput, SmbInput, Word } from "./smb-params.ts";

/** The SMB properties of a file or directory. */
export type SmbProperties = Pick<
  NodeRecord,
  "attributes" | "created" | "lastWrite" | "change" | "permissionKey" | "posix"
>;

export interface Settling {
  readonly share: ShareRecord;
  readonly kind: NodeKind;
  readonly parent: NodeRecord;
  /** What `parentSddl` returned, where the permission may be inherited. */
  readonly parentSddl?: string | undefined;
  readonly input: SmbInput;
  /** The record before the change, or the source of a copy. */
  readonly present: SmbProperties | undefined;
  /** The value of the keyword `now`; also the new ETag value. */
  readonly now: Ticks;
}

export interface SettledProperties {
  readonly properties: SmbProperties;
  readonly effects: readonly Effect[];
}

/** Resolves the properties of a request: missing ones come from the present record, else from
 *  the service's defaults. */
export function resolveSmbProperties(settling: Settling): Result<SettledProperties> {
  const { share, kind, input, present, now } = settling;
  const posix = settlePosix(settling);
  if (!posix.ok) return posix;
  const { key, effects } = settlePermission(share, input.permission, settling);
  return ok({
    properties: {
      attributes: settleAttributes(input.attributes, kind, present?.attributes),
      created: settleTime(input.created, present?.created, now),
      lastWrite: settleTime(input.lastWrite, present?.lastWrite, now),
      change: typeof input.change === "bigint" ? input.change : now,
      permissionKey: key,
      posix: posix.value,
    },
    effects,
  });
}

/** Reads the parent's permission if it will be inherited. */
export function inheritedFrom(
  view: RecordView,
  { share, parent }: Pick<Settling, "share" | "parent">,
  { permission }: SmbInput,
  present?: SmbProperties,
): Awaitable<string | undefined> {
  const isKept = permission !== "inherit" && present?.permissionKey !== undefined;
  return isKept || typeof permission === "object" ? undefined : parentSddl(view, share, parent);
}

/** A new file has the archive attribute; a directory always has the directory attribute. */
function settleAttributes(
  asked: number | Word | undefined,
  kind: NodeKind,
  present: number | undefined,
): number {
  const implied = kind === "directory" ? directoryAttribute : 0;
  if (typeof asked === "number") {
    return asked | implied | (kind === "directory" || present !== undefined ? 0 : archiveAttribute);
  }
  const start = kind === "directory" ? directoryAttribute : archiveAttribute;
  return asked === "none" ? start : (present ?? start);
}

function settleTime(
  asked: Ticks | Word | undefined,
  present: Ticks | undefined,
  now: Ticks,
): Ticks {
  if (typeof asked === "bigint") return asked;
  return asked === "now" ? now : (present ?? now);
}

function settlePermission(
  share: ShareRecord,
  asked: PermissionInput | undefined,
  { kind, parent, parentSddl: sddl, present }: Settling,
): { readonly key: string | undefined; readonly effects: readonly Effect[] } {
  if (typeof asked === "object") {
    return "key" in asked ? { key: asked.key, effects: [] } : keepPermission(share.id, asked.sddl);
  }
  const kept = asked === "inherit" ? undefined : present?.permissionKey;
  if (kept !== undefined) return { key: kept, effects: [] };
  return inheritPermission({ share, parent, kind, parentSddl: sddl });
}

export function keepPermission(share: bigint, sddl: string) {
  const key = permissionKeyOf(sddl);
  return { key, effects: [put(permissions, { share, key }, { sddl: normalSddl(sddl) })] };
}

/** Modes and owners are allowed on NFS shares only. */
function settlePosix({
  share,
  kind,
  input,
  present,
}: Settling): Result<PosixProperties | undefined> {
  const { mode, owner, group }: PosixInput = input.posix;
  if (share.settings.protocol !== "NFS") {
    const given = mode ?? owner ?? group;
    return given === undefined ? ok(undefined) : unsupportedHeader(namePosix(input.posix));
  }
  const start = present?.posix;
  const usual = kind === "directory" ? "0755" : "0664";
  return ok({
    mode: mode ?? start?.mode ?? usual,
    owner: owner ?? start?.owner ?? "0",
    group: group ?? start?.group ?? "0",
  });
}

function namePosix({ mode, owner }: PosixInput): string {
  return mode !== undefined ? "x-ms-mode" : owner !== undefined ? "x-ms-owner" : "x-ms-group";
}

export const smbHeaderNames = [
  "x-ms-file-attributes",
  "x-ms-file-creation-time",
  "x-ms-file-last-write-time",
  "x-ms-file-change-time",
  "x-ms-file-id",
  "x-ms-file-parent-id",
  "x-ms-file-permission-key",
  "x-ms-mode",
  "x-ms-owner",
  "x-ms-group",
  "x-ms-link-count",
  "x-ms-file-file-type",
] as const;

const firstVersion = "2019-02-02";
const fileTypes = { file: "Regular", directory: "Directory", symlink: "SymLink" } as const;

/** The root directory has no permission key header; NFS shares have modes instead of attributes. */
export function smbHeaders(node: NodeRecord, version: string) {
  if (version < firstVersion) return {};
  const { posix, kind } = node;
  const common = {
    "x-ms-file-creation-time": formatIso(node.created),
    "x-ms-file-last-write-time": formatIso(node.lastWrite),
    "x-ms-file-change-time": formatIso(node.change),
    "x-ms-file-id": String(node.id),
    "x-ms-file-parent-id": String(node.parent),
  };
  if (posix !== undefined) {
    return {
      ...common,
      "x-ms-mode": posix.mode,
      "x-ms-owner": posix.owner,
      "x-ms-group": posix.group,
      "x-ms-link-count": kind === "file" ? String(1 + (node.links?.length ?? 0)) : undefined,
      "x-ms-file-file-type": fileTypes[kind],
    };
  }
  return {
    ...common,
    "x-ms-file-attributes": formatAttributes(node.attributes),
    "x-ms-file-permission-key": node.id === rootId ? undefined : node.permissionKey,
  };
}
