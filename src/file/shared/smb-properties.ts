import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
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
import { inheritPermission, readParentSddl } from "./inherited-permission.ts";
import { createdSddl } from "./inherited-sddl.ts";
import { normalSddl, permissionKeyOf, wellKnownSddl } from "./sddl.ts";
import type { PermissionInput, PosixInput, SmbInput, Keyword } from "./smb-params.ts";

/** SMB properties of files over REST: what a file gets from a request, and the response headers. */

/** The names of the file attributes with their SMB bits, in the order in which REST lists them. */
const names = [
  ["ReadOnly", 0x1],
  ["Hidden", 0x2],
  ["System", 0x4],
  ["Directory", 0x10],
  ["Archive", 0x20],
  ["Temporary", 0x100],
  ["Offline", 0x1000],
  ["NotContentIndexed", 0x2000],
  ["NoScrubData", 0x2_0000],
] as const;

const readOnlyAttribute = 0x1;
export function isReadOnly({ attributes }: { readonly attributes: number }): boolean {
  return (attributes & readOnlyAttribute) !== 0;
}

export const directoryAttribute = 0x10;
export const archiveAttribute = 0x20;

/** Parses a list of attribute names (`ReadOnly | Archive`), or `None`. Undefined if a name is
 *  unknown. */
export function parseAttributes(text: string): number | undefined {
  const words = text.split("|").map((word) => word.trim().toLowerCase());
  if (words.length === 1 && words[0] === "none") return 0;
  let bits = 0;
  for (const word of words) {
    const known = names.find(([name]) => name.toLowerCase() === word);
    if (known === undefined) return undefined;
    bits |= known[1];
  }
  return bits;
}

export function formatAttributes(bits: number): string {
  const held = names.filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name);
  return held.length === 0 ? "None" : held.join(" | ");
}

export type SmbProperties = Pick<
  NodeRecord,
  "attributes" | "created" | "lastWrite" | "change" | "permissionKey" | "posix"
>;

/** Input of `resolveSmbProperties`: the SMB properties in a request, and their file. */
export interface SmbPropertyChange {
  readonly share: ShareRecord;
  readonly kind: NodeKind;
  readonly parent: NodeRecord;
  /** Security descriptor of the parent (`readInheritedSddl`), if the permission may be
   *  inherited. */
  readonly parentSddl?: string | undefined;
  /** For a new file: the stored security descriptor whose key the request has
   *  (`readCreationSddl`). */
  readonly keySddl?: string | undefined;
  /** Set for a new file, whose permission is stored in another form (`createdSddl`). */
  readonly creates?: true;
  readonly input: SmbInput;
  /** The record before the change, whose values are kept where the request has none; undefined for
   *  a new file. */
  readonly present: SmbProperties | undefined;
  /** The time that the keyword `now` means; also the new ETag value. */
  readonly now: Ticks;
}

interface ResolvedSmbProperties {
  readonly properties: SmbProperties;
  readonly effects: readonly Effect[];
}

/** The properties that a file gets. Those that the request does not have come from the current
 *  record, else from the defaults of the service. */
export function resolveSmbProperties(
  propertyChange: SmbPropertyChange,
): Result<ResolvedSmbProperties> {
  const { share, kind, input, present, now } = propertyChange;
  const posix = resolvePosix(propertyChange);
  if (!posix.ok) return posix;
  const { key, effects } = resolvePermission(share, input.permission, propertyChange);
  return ok({
    properties: {
      attributes: resolveAttributes(input, kind, present?.attributes),
      created: resolveTime(input.created, present?.created, now),
      lastWrite: resolveTime(input.lastWrite, present?.lastWrite, now),
      // Unlike the other times, the change time is not kept: every change of the file sets it.
      change: typeof input.change === "bigint" ? input.change : now,
      permissionKey: key,
      posix: posix.value,
    },
    effects,
  });
}

/** Reads, before the decision, the security descriptor of the parent if the file will inherit from
 *  it; otherwise undefined. */
export function readInheritedSddl(
  view: RecordView,
  { share, parent }: Pick<SmbPropertyChange, "share" | "parent">,
  { permission }: SmbInput,
  present?: SmbProperties,
): Awaitable<string | undefined> {
  const isKept = permission !== "inherit" && present?.permissionKey !== undefined;
  return isKept || typeof permission === "object" ? undefined : readParentSddl(view, share, parent);
}

/** The descriptors that the permission of a new file depends on. */
interface CreationSddl {
  readonly parentSddl?: string | undefined;
  readonly keySddl?: string | undefined;
}

/** Reads the security descriptor of the parent if a new file will inherit from it, or that of the
 *  key in the request. */
export function readCreationSddl(
  view: RecordView,
  scope: Pick<SmbPropertyChange, "share" | "parent">,
  input: SmbInput,
): Awaitable<CreationSddl> {
  const { permission } = input;
  if (typeof permission !== "object") {
    const parentSddl = readInheritedSddl(view, scope, input);
    return mapAwaitable(parentSddl, (sddl) => ({ parentSddl: sddl }));
  }
  if (!("key" in permission)) return {};
  const { key } = permission;
  const found = view.get(permissions, { share: scope.share.id, key });
  return mapAwaitable(found, (record) => ({ keySddl: record?.sddl ?? wellKnownSddl(key) }));
}

/** A new file gets the archive attribute unless it is restored, and so does an existing one with
 *  the keyword `none`. A directory always has the directory attribute. */
function resolveAttributes(
  { attributes: requested, restores }: SmbInput,
  kind: NodeKind,
  present: number | undefined,
): number {
  const implied = kind === "directory" ? directoryAttribute : 0;
  if (restores === true) return (typeof requested === "number" ? requested : 0) | implied;
  if (typeof requested === "number") {
    return (
      requested | implied | (kind === "directory" || present !== undefined ? 0 : archiveAttribute)
    );
  }
  const initial = kind === "directory" ? directoryAttribute : archiveAttribute;
  return requested === "none" ? initial : (present ?? initial);
}

function resolveTime(
  requested: Ticks | Keyword | undefined,
  present: Ticks | undefined,
  now: Ticks,
): Ticks {
  if (typeof requested === "bigint") return requested;
  return requested === "now" ? now : (present ?? now);
}

function resolvePermission(
  share: ShareRecord,
  requested: PermissionInput | undefined,
  { kind, parent, parentSddl: sddl, present, creates, keySddl, input }: SmbPropertyChange,
): { readonly key: string | undefined; readonly effects: readonly Effect[] } {
  if (typeof requested === "object") {
    const given = "key" in requested ? keySddl : requested.sddl;
    if (creates === true && input.restores !== true && given !== undefined) {
      return storePermission(share.id, createdSddl(given));
    }
    return "key" in requested
      ? { key: requested.key, effects: [] }
      : storePermission(share.id, requested.sddl);
  }
  const kept = requested === "inherit" ? undefined : present?.permissionKey;
  if (kept !== undefined) return { key: kept, effects: [] };
  return inheritPermission({ share, parent, kind, parentSddl: sddl });
}

/** The key of a security descriptor, and the effect that stores it under the key. */
export function storePermission(share: bigint, sddl: string) {
  const key = permissionKeyOf(sddl);
  return { key, effects: [put(permissions, { share, key }, { sddl: normalSddl(sddl) })] };
}

/** The POSIX properties that a file gets; a fault if a request sets them on an SMB share. */
function resolvePosix({
  share,
  kind,
  input,
  present,
}: SmbPropertyChange): Result<PosixProperties | undefined> {
  const { mode, owner, group }: PosixInput = input.posix;
  if (share.settings.protocol !== "NFS") {
    const given = mode ?? owner ?? group;
    return given === undefined ? ok(undefined) : unsupportedHeader(firstPosixHeader(input.posix));
  }
  const current = present?.posix;
  const defaultMode = kind === "directory" ? "0755" : "0664";
  return ok({
    mode: mode ?? current?.mode ?? defaultMode,
    owner: owner ?? current?.owner ?? "0",
    group: group ?? current?.group ?? "0",
  });
}

function firstPosixHeader({ mode, owner }: PosixInput): string {
  return mode !== undefined ? "x-ms-mode" : owner !== undefined ? "x-ms-owner" : "x-ms-group";
}

/** Header of the responses to writes: the server always encrypts, as far as clients can see. */
export const serverEncrypted = { "x-ms-request-server-encrypted": "true" } as const;

/** The first x-ms-version with SMB properties; responses in earlier ones have no such headers. */
const firstVersion = "2019-02-02";
const fileTypes = { file: "Regular", directory: "Directory", symlink: "SymLink" } as const;

/** The response headers with SMB properties, or on NFS shares with POSIX properties. The root
 *  directory has no header for its permission key. */
export function smbHeaders(node: NodeRecord, version: string) {
  if (version < firstVersion) return {};
  const { posix, kind } = node;
  const isCounted = posix !== undefined && kind === "file";
  return {
    "x-ms-file-creation-time": formatIso(node.created),
    "x-ms-file-last-write-time": formatIso(node.lastWrite),
    "x-ms-file-change-time": formatIso(node.change),
    "x-ms-file-id": String(node.id),
    "x-ms-file-parent-id": String(node.parent),
    "x-ms-file-attributes": posix === undefined ? formatAttributes(node.attributes) : undefined,
    "x-ms-file-permission-key":
      posix === undefined && node.id !== rootId ? node.permissionKey : undefined,
    "x-ms-mode": posix?.mode,
    "x-ms-owner": posix?.owner,
    "x-ms-group": posix?.group,
    "x-ms-link-count": isCounted ? String(1 + (node.links?.length ?? 0)) : undefined,
    "x-ms-file-file-type": posix && fileTypes[kind],
  };
}
