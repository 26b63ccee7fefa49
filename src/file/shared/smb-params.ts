import { parseIso } from "../../base/dates.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { boolean, header, oneOf, type Param, type ParamReader } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { changePermissionNeed } from "../../protocol/roles/action-need.ts";
import type { ActionNeed } from "../../protocol/roles/role.ts";
import type { Ticks } from "../../base/ticks.ts";
import { parseAttributes } from "./smb-properties.ts";
import { isSddl, permissionKeyForm } from "./sddl.ts";
import { sddlFromBinary } from "./descriptor-bytes.ts";

/** Parameters of requests that set SMB properties, or on NFS shares POSIX properties. */

/** The SMB properties in a request; a field is undefined if the request lacks its header. */
export interface SmbInput {
  readonly attributes: number | Keyword | undefined;
  readonly created: Ticks | Keyword | undefined;
  readonly lastWrite: Ticks | Keyword | undefined;
  readonly change: Ticks | Keyword | undefined;
  readonly permission: PermissionInput | undefined;
  readonly posix: PosixInput;
  /** `x-ms-file-property-semantics: Restore`: a new file gets the attributes of the request and no
   *  others. The header requires a permission in the request. */
  readonly restores?: true;
}

/** Keywords that a header may have instead of a value: the current time, the current value, the
 *  value of the source of a copy, and for attributes none. */
export type Keyword = "now" | "preserve" | "source" | "none";

export type PermissionInput =
  | { readonly sddl: string }
  | { readonly key: string }
  | "inherit"
  | "preserve";

export interface PosixInput {
  readonly mode: string | undefined;
  readonly owner: string | undefined;
  readonly group: string | undefined;
}

/** The action that a request with a bearer token needs, beside that of its operation, if it sets a
 *  security descriptor.
 *  learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory */
export function permissionActions(input: object): ActionNeed | undefined {
  const smb = "smb" in input ? (input.smb as SmbInput) : undefined;
  return smb?.permission === undefined ? undefined : changePermissionNeed;
}

/** The x-ms-versions in which these properties are required: they had no defaults yet. */
const required = { from: "2019-02-02", before: "2021-06-08" };

const sources = [
  "x-ms-file-attributes",
  "x-ms-file-creation-time",
  "x-ms-file-last-write-time",
  "x-ms-file-change-time",
  "x-ms-file-permission",
  "x-ms-file-permission-format",
  "x-ms-file-permission-key",
  "x-ms-mode",
  "x-ms-owner",
  "x-ms-group",
];

interface SmbParamOptions {
  /** Keywords that the operation accepts instead of a value. */
  readonly words: readonly Keyword[];
  /** Whether the operation requires the properties in old versions (`required`). */
  readonly requiredByOldVersions: boolean;
  /** Whether the operation creates a file, so that it has `x-ms-file-property-semantics`. */
  readonly creates?: true;
}

const semanticsHeader = "x-ms-file-property-semantics";
/** The first x-ms-version that has this header; earlier ones ignore it. */
const semanticsSince = "2026-02-06";

/** The parameter that reads all SMB and POSIX properties of a request. */
export function smbProperties(options: SmbParamOptions): Param<SmbInput> {
  const { words, requiredByOldVersions, creates } = options;
  return {
    sources: creates === true ? [...sources, semanticsHeader] : sources,
    parse: (reader) => {
      const { version } = reader;
      const needed = requiredByOldVersions && version >= required.from && version < required.before;
      const attributes = read(reader, "x-ms-file-attributes", words, parseAttributes, needed);
      if (!attributes.ok) return attributes;
      const created = read(reader, "x-ms-file-creation-time", words, parseIso, needed);
      if (!created.ok) return created;
      const lastWrite = read(reader, "x-ms-file-last-write-time", words, parseIso, needed);
      if (!lastWrite.ok) return lastWrite;
      const change = read(reader, "x-ms-file-change-time", words, parseIso, false);
      if (!change.ok) return change;
      const permission = readPermission(reader);
      if (!permission.ok) return permission;
      const posix = readPosix(reader);
      if (!posix.ok) return posix;
      const restores = creates === true ? readRestores(reader) : isNew;
      if (!restores.ok) return restores;
      return ok({
        attributes: attributes.value,
        created: created.value,
        lastWrite: lastWrite.value,
        change: change.value,
        permission: permission.value,
        posix: posix.value,
        ...(restores.value && typeof permission.value === "object" ? { restores: true } : {}),
      });
    },
  };
}

function read<T>(
  reader: ParamReader,
  name: string,
  words: readonly Keyword[],
  parse: (text: string) => T | undefined,
  needed: boolean,
): Result<T | Keyword | undefined> {
  const text = reader.header(name);
  if (text === undefined || text === "") return needed ? missingHeader(name) : ok(undefined);
  const word = words.find((each) => each === text.toLowerCase());
  const value = word ?? parse(text);
  return value === undefined ? invalidHeader(name, text) : ok(value);
}

/** The permission in a request: a security descriptor or its key, but not both. An empty header
 *  counts as absent. */
function readPermission(reader: ParamReader): Result<PermissionInput | undefined> {
  const text = reader.header("x-ms-file-permission") || undefined;
  const key = reader.header("x-ms-file-permission-key") || undefined;
  if (text !== undefined && key !== undefined) {
    return invalidHeader("x-ms-file-permission-key", key);
  }
  if (key !== undefined) {
    return permissionKeyForm.test(key)
      ? ok({ key })
      : invalidHeader("x-ms-file-permission-key", key);
  }
  const format = permissionFormat.parse(reader);
  if (!format.ok) return format;
  if (text === undefined) return ok(undefined);
  const word = text.toLowerCase();
  if (word === "inherit" || word === "preserve") return ok(word);
  const sddl = format.value === "binary" ? sddlFromBinary(text) : text;
  return sddl !== undefined && isSddl(sddl) ? ok({ sddl }) : fail("FileInvalidPermission");
}

/** The form of a security descriptor in a request; SDDL if the header is absent. */
export const permissionFormat = header("x-ms-file-permission-format", oneOf("sddl", "binary"));

const isNew = ok(false);

/** Whether the request restores a file instead of creating a new one. Without a permission the
 *  service treats `Restore` as `New`. */
function readRestores(reader: ParamReader): Result<boolean> {
  const text = reader.version < semanticsSince ? "" : reader.header(semanticsHeader);
  if (text === undefined || text === "") return isNew;
  const word = text.toLowerCase();
  if (word !== "new" && word !== "restore") return invalidHeader(semanticsHeader, text);
  return ok(word === "restore");
}

const modeForm = /^[0-7]{3,4}$/;
const identityForm = /^\d{1,10}$/;

function readPosix(reader: ParamReader): Result<PosixInput> {
  const mode = reader.header("x-ms-mode") || undefined;
  if (mode !== undefined && !modeForm.test(mode)) return invalidHeader("x-ms-mode", mode);
  const owner = reader.header("x-ms-owner") || undefined;
  if (owner !== undefined && !identityForm.test(owner)) return invalidHeader("x-ms-owner", owner);
  const group = reader.header("x-ms-group") || undefined;
  if (group !== undefined && !identityForm.test(group)) return invalidHeader("x-ms-group", group);
  return ok({ mode: mode?.padStart(4, "0"), owner, group });
}

/** Like `keepsTrailingDots`, for the path of the source of a copy or rename. */
export const keepsSourceTrailingDots = header("x-ms-source-allow-trailing-dot", boolean);
