import { entriesOf, setAcl, setMode, stickyBit, superuser } from "./posix-acl.ts";
import type { AclEntry, PosixAccess } from "./posix-acl.ts";

/** How the rules of `posix-acl.ts` apply: what a new path gets, and who may do what. */

export type PathKind = "file" | "directory";

/** Permission bits of what is created without any, before the umask. */
const createMode: Readonly<Record<PathKind, number>> = { file: 0o666, directory: 0o777 };

export interface NewPathRequest {
  readonly kind: PathKind;
  readonly owner: string;
  readonly group: string;
  /** As requested; undefined for the default of the kind. */
  readonly mode: number | undefined;
  readonly umask: number;
  /** Of the directory it is created in. */
  readonly parent: PosixAccess | undefined;
}

/** The access of a new path. Default entries of the parent become its list; then the umask does not
 *  apply, but the requested bits bound owner, mask and other, as in POSIX.1e. */
export function newPathAccess(request: NewPathRequest): PosixAccess {
  const { kind, owner, group, umask, parent } = request;
  const mode = request.mode ?? createMode[kind];
  const defaults = parent === undefined ? [] : defaultEntries(parent);
  if (defaults.length === 0) {
    const sticky = mode & stickyBit;
    return { owner, group, mode: sticky | (mode & ~umask & 0o777) };
  }
  const access = defaults.map((entry) => ({ ...entry, scope: "access" as const }));
  const entries = kind === "directory" ? [...access, ...defaults] : access;
  const inherited = setAcl({ owner, group, mode: 0 }, entries);
  if (inherited === undefined) throw new Error("a list of default entries is complete");
  return setMode(inherited, (mode & stickyBit) | (inherited.mode & mode & 0o777));
}

function defaultEntries(access: PosixAccess): readonly AclEntry[] {
  if (access.acl === undefined) return [];
  return entriesOf(access).filter(({ scope }) => scope === "default");
}

/** The root directory of a new filesystem, and a directory made on the way to another path. */
export function defaultAccess(kind: PathKind, umask: number): PosixAccess {
  const mode = createMode[kind] & ~umask;
  return { owner: superuser, group: superuser, mode };
}

/** A caller that lists apply to. */
export interface AclCaller {
  readonly objectId: string;
  readonly groups: readonly string[];
}

export const readBit = 4;
export const writeBit = 2;
export const executeBit = 1;

/** The permission check of POSIX.1e: the first class that the caller belongs to decides. */
export function grants(access: PosixAccess, caller: AclCaller, bits: number): boolean {
  const entries = entriesOf(access).filter(({ scope }) => scope === "access");
  const mask = entries.find(({ type }) => type === "mask")?.bits ?? 0o7;
  const allows = (granted: number): boolean => (granted & bits) === bits;
  const own = (type: AclEntry["type"]) => entries.find((e) => e.type === type && e.id === "");
  if (access.owner === caller.objectId) return allows(own("user")?.bits ?? 0);
  const named = entries.find(({ type, id }) => type === "user" && id === caller.objectId);
  if (named !== undefined) return allows(named.bits & mask);
  const groups = entries.filter(
    ({ type, id }) => type === "group" && caller.groups.includes(id === "" ? access.group : id),
  );
  if (groups.length > 0) return groups.some((entry) => allows(entry.bits & mask));
  return allows(own("other")?.bits ?? 0);
}

export interface PathAccess {
  /** From the root directory to the parent of the path; of the root directory: none. */
  readonly ancestors: readonly PosixAccess[];
  /** Undefined if the path does not exist. */
  readonly target: PosixAccess | undefined;
}

/** What an operation needs: bits of the path itself, bits of its parent. */
export interface AccessNeed {
  readonly target?: number;
  readonly parent?: number;
  /** It takes the path away from its parent: the sticky bit then asks for an owner. */
  readonly removesFromParent?: boolean;
  /** Only the owner of the path may. */
  readonly owner?: boolean;
}

/** Whether a caller may: every directory on the way needs the execute bit. */
export function mayAccess(path: PathAccess, caller: AclCaller, need: AccessNeed): boolean {
  const { ancestors, target } = path;
  if (!ancestors.every((directory) => grants(directory, caller, executeBit))) return false;
  const parent = ancestors.at(-1);
  const parentBits = need.parent ?? 0;
  if (parent !== undefined && !grants(parent, caller, parentBits)) return false;
  if (target === undefined) return true;
  if (need.owner === true && target.owner !== caller.objectId) return false;
  if (
    need.removesFromParent === true &&
    parent !== undefined &&
    !mayRemove(parent, target, caller)
  ) {
    return false;
  }
  return grants(target, caller, need.target ?? 0);
}

/** In a directory with the sticky bit only the owner of it or of the path removes or renames. */
function mayRemove(parent: PosixAccess, target: PosixAccess, caller: AclCaller): boolean {
  if ((parent.mode & stickyBit) === 0) return true;
  return parent.owner === caller.objectId || target.owner === caller.objectId;
}
