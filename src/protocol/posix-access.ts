import {
  entriesOf,
  setAcl,
  setMode,
  stickyBit,
  superuser,
  type AclEntry,
  type PosixAccess,
} from "./posix-acl.ts";

/** How the rules of `posix-acl.ts` apply: the access of new paths, and what a caller may access.
 *  `authorise.ts` and the operations of `blob/dfs` ask it. */

export type PathKind = "file" | "directory";

/** Permission bits of a new path for which the request has none, before the umask is applied. */
const createMode: Readonly<Record<PathKind, number>> = { file: 0o666, directory: 0o777 };

/** What the access of a new path depends on. */
interface NewPathRequest {
  readonly kind: PathKind;
  readonly owner: string;
  readonly group: string;
  /** The permission bits that the request asks for; undefined: `createMode`. */
  readonly mode: number | undefined;
  readonly umask: number;
  /** Access of the directory in which the path is created; undefined: it has the defaults. */
  readonly parent: PosixAccess | undefined;
}

/** Owner, group, bits and list of a new path. If the parent has default entries, they become its
 *  list and the umask does not apply; the requested bits then limit owner, mask and other, as in
 *  POSIX.1e. */
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

/** The access of the root directory of a new filesystem, and of directories that are created
 *  because they are missing in the path of another one. */
export function defaultAccess(kind: PathKind, umask: number): PosixAccess {
  const mode = createMode[kind] & ~umask;
  return { owner: superuser, group: superuser, mode };
}

/** A caller to whom access control lists apply: a user or application with its groups. */
export interface AclCaller {
  readonly objectId: string;
  readonly groups: readonly string[];
}

export const readBit = 4;
export const writeBit = 2;
export const executeBit = 1;

/** Whether a list grants all these bits to a caller: the first class that the caller belongs to
 *  decides (owner, named user, groups, other). Unlike in POSIX.1e, the bits of several groups add
 *  up. learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
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
  if (groups.length > 0) return allows(groups.reduce((all, entry) => all | entry.bits, 0) & mask);
  return allows(own("other")?.bits ?? 0);
}

/** The access control lists that decide about an access to a path: its own and those of the
 *  directories above it. */
export interface PathAccess {
  /** The lists of the directories from the root to the parent of the path; empty for the root. */
  readonly ancestors: readonly PosixAccess[];
  /** Undefined if the path does not exist. */
  readonly target: PosixAccess | undefined;
}

/** What an operation requires of a path and of its parent, as permission bits. */
export interface AccessNeed {
  readonly target?: number;
  readonly parent?: number;
  /** Whether the path is removed from its parent. With a sticky bit, only owners may. */
  readonly removesFromParent?: boolean;
  /** Whether only the owner of the path may do it. */
  readonly owner?: boolean;
}

/** Whether a caller may access a path: every directory above it must grant the execute bit, the
 *  parent and the path the bits that the operation requires. */
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

const allBits = readBit | writeBit | executeBit;

/** Whether a caller may delete a directory with everything in it: it must be able to list the
 *  directory, and to remove from it. */
export function mayEmpty(directory: PosixAccess, caller: AclCaller): boolean {
  return grants(directory, caller, allBits);
}

/** Whether a caller may set this owner and group. Only a superuser changes the owner; the owner may
 *  choose a group that it is a member of. */
export function maySetOwners(
  current: Pick<PosixAccess, "owner" | "group">,
  requested: { readonly owner: string | undefined; readonly group: string | undefined },
  caller: AclCaller,
): boolean {
  const { owner = current.owner, group = current.group } = requested;
  return owner === current.owner && (group === current.group || caller.groups.includes(group));
}

/** In a directory with the sticky bit, only the owner of the directory or of the path may remove or
 *  rename the path. */
export function mayRemove(parent: PosixAccess, target: PosixAccess, caller: AclCaller): boolean {
  if ((parent.mode & stickyBit) === 0) return true;
  return parent.owner === caller.objectId || target.owner === caller.objectId;
}
