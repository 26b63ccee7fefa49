/** Access control lists of paths (Data Lake): parsing, formatting and changes of permission bits
 *  and entries, as POSIX.1e and Azure define them. `posix-access.ts` decides with them; the
 *  operations of `blob/dfs` change them. */

/** Access rights of a path in a hierarchical namespace: owner, group, permission bits, and an
 *  access control list if the bits do not suffice.
 *  learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export interface PosixAccess {
  readonly owner: string;
  readonly group: string;
  /** Nine permission bits and the sticky bit (0o1000). As in POSIX.1e, the middle three bits are
   *  those of the mask if the list has one. */
  readonly mode: number;
  /** The whole list in canonical order; undefined if `mode` expresses it. */
  readonly acl?: string | undefined;
}

/** `default` entries are inherited by new entries of a directory; `access` entries apply to the
 *  path itself. */
type AclScope = "access" | "default";
type AclType = "user" | "group" | "mask" | "other";

/** What identifies an entry of an access control list. No two entries of a list have the same. */
export interface AclName {
  readonly scope: AclScope;
  readonly type: AclType;
  /** Object id of a named user or group; empty for the owner, the owning group, mask and other. */
  readonly id: string;
}

export interface AclEntry extends AclName {
  /** Permission bits: 4 read, 2 write, 1 execute. */
  readonly bits: number;
}

/** Azure's name for the owner and group of paths that were created with an account key. */
export const superuser = "$superuser";
/** The permission bit of a directory from which only owners may remove paths. */
export const stickyBit = 0o1000;
/** The umask of requests that do not send one: Azure's default. It removes bits of a new path. */
export const defaultUmask = 0o027;

const bitsMax = 0o7;
/** Azure's limit of the entries of one list: access entries and default entries. */
const entriesPerScopeMax = 32;
/** Longest id of an entry, in UTF-16 code units; object ids have 36. It bounds the length of a
 *  list, which headers contain. */
const idUnitsMax = 256;
const scopes: readonly AclScope[] = ["access", "default"];
const types: readonly AclType[] = ["user", "group", "mask", "other"];

/** Parses permission bits: `0777`, `1777` or `rwxr-x--t`; undefined if malformed. */
export function parsePermissions(text: string): number | undefined {
  if (/^[01]?[0-7]{3}$/.test(text)) return Number.parseInt(text, 8);
  if (!/^([r-][w-][x-]){2}[r-][w-][xtT-]$/.test(text)) return undefined;
  const last = text[8] ?? "-";
  const plain = text.slice(0, 8) + (last === "t" ? "x" : last === "T" ? "-" : last);
  let mode = last === "t" || last === "T" ? stickyBit : 0;
  for (let at = 0; at < plain.length; at += 1) {
    if (plain[at] !== "-") mode |= 1 << (plain.length - 1 - at);
  }
  return mode;
}

/** Parses a umask: octal, without a sticky bit; undefined if malformed. */
export function parseUmask(text: string): number | undefined {
  return /^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : undefined;
}

/** Formats permission bits: `rwxr-x---`, with `t` or `T` at the end for the sticky bit, and `+` if
 *  there is a list. */
export function formatPermissions({ mode, acl }: PosixAccess): string {
  const plain = formatBits(mode >> 6) + formatBits(mode >> 3) + formatBits(mode);
  const isSticky = (mode & stickyBit) !== 0;
  const last = isSticky ? (plain.endsWith("x") ? "t" : "T") : plain.slice(-1);
  return plain.slice(0, -1) + last + (acl === undefined ? "" : "+");
}

function formatBits(bits: number): string {
  return (bits & 4 ? "r" : "-") + (bits & 2 ? "w" : "-") + (bits & 1 ? "x" : "-");
}

/** Formats the whole list in canonical order: access entries, then default entries; in each group
 *  the owner, named users, the owning group, named groups, mask, other. */
export function formatAcl({ mode, acl }: PosixAccess): string {
  return acl ?? formatEntries(plainEntries(mode));
}

/** Parses a list such as `user::rwx,default:group:<id>:r-x`; undefined if it is malformed, too long
 *  or names an entry twice. */
export function parseAcl(text: string): readonly AclEntry[] | undefined {
  return parseList(text, (parts) => {
    const [type = "", id = "", permissions = "", ...rest] = parts;
    if (parts.length !== 3 || rest.length > 0) return undefined;
    const bits = parseBits(permissions);
    return bits === undefined ? undefined : { type, id, bits };
  });
}

/** Parses the names of entries to remove, such as `mask,default:user,user:<id>`; undefined if
 *  malformed. Permissions are not allowed. */
export function parseAclNames(text: string): readonly AclName[] | undefined {
  return parseList(text, (parts) => {
    const [type = "", id = ""] = parts;
    const isEmptyEnd = parts.length === 3 && parts[2] === "";
    return parts.length <= 2 || isEmptyEnd ? { type, id, bits: 0 } : undefined;
  });
}

interface ParsedParts {
  readonly type: string;
  readonly id: string;
  readonly bits: number;
}

function parseList(
  text: string,
  parse: (parts: readonly string[]) => ParsedParts | undefined,
): readonly AclEntry[] | undefined {
  const entries: AclEntry[] = [];
  const seen = new Set<string>();
  const items = text.split(",");
  if (items.length > scopes.length * entriesPerScopeMax) return undefined;
  for (const item of items) {
    const parts = item.trim().split(":");
    const isDefault = parts[0] === "default";
    const parsed = parse(isDefault ? parts.slice(1) : parts);
    const type = types.find((each) => each === parsed?.type);
    if (parsed === undefined || type === undefined) return undefined;
    const { id, bits } = parsed;
    const mayBeNamed = type === "user" || type === "group";
    if (id.length > idUnitsMax || (id !== "" && !mayBeNamed) || !isIdText(id)) return undefined;
    const scope = isDefault ? "default" : "access";
    const key = keyOf({ scope, type, id });
    if (seen.has(key)) return undefined;
    seen.add(key);
    entries.push({ scope, type, id, bits });
  }
  return isBounded(entries) ? entries : undefined;
}

/** Whether an id consists of printable ASCII characters: lists are returned in headers. */
function isIdText(id: string): boolean {
  return /^[\x21-\x7e]*$/.test(id);
}

/** Whether a list has no more entries than Azure permits. */
function isBounded(entries: readonly AclEntry[]): boolean {
  return scopes.every((scope) => ofScope(entries, scope).length <= entriesPerScopeMax);
}

function parseBits(text: string): number | undefined {
  if (!/^[r-][w-][x-]$/.test(text)) return undefined;
  return (text[0] === "r" ? 4 : 0) | (text[1] === "w" ? 2 : 0) | (text[2] === "x" ? 1 : 0);
}

function formatEntries(entries: readonly AclEntry[]): string {
  return canonicalOrder(entries)
    .map(({ scope, type, id, bits }) => {
      const start = scope === "default" ? "default:" : "";
      return `${start}${type}:${id}:${formatBits(bits)}`;
    })
    .join(",");
}

function canonicalOrder(entries: readonly AclEntry[]): readonly AclEntry[] {
  const rank = ({ scope, type, id }: AclEntry): number =>
    scopes.indexOf(scope) * 16 + types.indexOf(type) * 2 + (id === "" ? 0 : 1);
  return entries.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function keyOf({ scope, type, id }: AclName): string {
  return `${scope} ${type} ${id}`;
}

function ofScope(entries: readonly AclEntry[], scope: AclScope): readonly AclEntry[] {
  return entries.filter((entry) => entry.scope === scope);
}

function plainEntries(mode: number): readonly AclEntry[] {
  const scope = "access";
  return [
    { scope, type: "user", id: "", bits: (mode >> 6) & bitsMax },
    { scope, type: "group", id: "", bits: (mode >> 3) & bitsMax },
    { scope, type: "other", id: "", bits: mode & bitsMax },
  ];
}

/** The entries of a path: those of its list, or those that follow from the bits. */
export function entriesOf({ mode, acl }: PosixAccess): readonly AclEntry[] {
  return acl === undefined ? plainEntries(mode) : (parseAcl(acl) ?? plainEntries(mode));
}

/** The entry of owner, owning group, mask or other, by its type; those of named users and groups
 *  are not found. */
export function find(
  entries: readonly AclEntry[],
  scope: AclScope,
  type: AclType,
): AclEntry | undefined {
  return entries.find((entry) => entry.scope === scope && entry.type === type && entry.id === "");
}

/** Returns the access with these entries as its list. Undefined if an owner, owning group or other
 *  entry is missing, or if there are more entries than a path may have. */
function withEntries(access: PosixAccess, given: readonly AclEntry[]): PosixAccess | undefined {
  const complete = scopes.flatMap((scope) => completeScope(given, scope));
  const user = find(complete, "access", "user");
  const group = find(complete, "access", "group");
  const other = find(complete, "access", "other");
  if (user === undefined || group === undefined || other === undefined) return undefined;
  if (!isBounded(complete)) return undefined;
  const mask = find(complete, "access", "mask");
  const middle = (mask ?? group).bits;
  const mode = (access.mode & stickyBit) | (user.bits << 6) | (middle << 3) | other.bits;
  const isPlain = complete.length === 3 && mask === undefined;
  const { owner, group: owningGroup } = access;
  const acl = isPlain ? undefined : formatEntries(complete);
  return { owner, group: owningGroup, mode, acl };
}

/** Adds the entries of one scope that a list must have. With named entries it needs a mask; if
 *  there is none, the mask grants what the entries that it limits grant. Default entries need
 *  owner, group and other, which are taken from the access entries. */
function completeScope(entries: readonly AclEntry[], scope: AclScope): readonly AclEntry[] {
  const own = [...ofScope(entries, scope)];
  if (own.length === 0) return own;
  if (scope === "default") {
    for (const type of ["user", "group", "other"] as const) {
      const access = find(entries, "access", type);
      if (find(own, scope, type) === undefined && access !== undefined) {
        own.push({ ...access, scope });
      }
    }
  }
  const isNamed = own.some(({ id }) => id !== "");
  if (isNamed && find(own, scope, "mask") === undefined) {
    const bits = own.filter(isMasked).reduce((all, entry) => all | entry.bits, 0);
    own.push({ scope, type: "mask", id: "", bits });
  }
  return own;
}

/** Whether the mask limits an entry: it does not limit owner and other. */
function isMasked({ type, id }: AclEntry): boolean {
  return type === "group" || (type === "user" && id !== "");
}

/** Replaces the list; undefined if the result is too long. Entries of the access scope that are not
 *  given stay in two cases, because Hadoop sends such lists: owner, owning group and other always,
 *  and all of them if only default entries are given. */
export function setAcl(access: PosixAccess, entries: readonly AclEntry[]): PosixAccess | undefined {
  const given = new Set(entries.map(keyOf));
  const isForAccess = isChanged(entries, "access");
  const kept = ofScope(entriesOf(access), "access").filter(
    (entry) => !isForAccess || (isBase(entry) && !given.has(keyOf(entry))),
  );
  return withEntries(access, [...kept, ...entries]);
}

/** Whether a list must always have this entry, as those of owner, owning group and other. */
function isBase({ id, type }: AclName): boolean {
  return id === "" && type !== "mask";
}

/** Replaces the entries of the same name and adds the others; undefined if the result is too long.
 *  A mask that is not given is computed again for each scope that changes. */
export function modifyAcl(
  access: PosixAccess,
  entries: readonly AclEntry[],
): PosixAccess | undefined {
  const given = new Set(entries.map(keyOf));
  const kept = entriesOf(access).filter((entry) => {
    const isStaleMask = entry.type === "mask" && isChanged(entries, entry.scope);
    return !given.has(keyOf(entry)) && !isStaleMask;
  });
  return withEntries(access, [...kept, ...entries]);
}

function isChanged(entries: readonly AclName[], scope: AclScope): boolean {
  return entries.some((entry) => entry.scope === scope);
}

/** Removes the named entries; undefined if the result is too long. Names without an entry are
 *  ignored. So are owner, group and other of the access scope, because every path must have them.
 *  The mask of each changed scope is computed again. */
export function removeAcl(access: PosixAccess, names: readonly AclName[]): PosixAccess | undefined {
  const named = new Set(names.map(keyOf));
  const removed = entriesOf(access).filter((entry) => {
    const isNeeded = entry.scope === "access" && isBase(entry);
    return !isNeeded && named.has(keyOf(entry));
  });
  const kept = entriesOf(access).filter((entry) => {
    const isStaleMask = entry.type === "mask" && isChanged(removed, entry.scope);
    return !isStaleMask && !removed.some((gone) => keyOf(gone) === keyOf(entry));
  });
  return withEntries(access, kept);
}

/** Sets the permission bits as chmod does: if the list has a mask, the middle three bits become the
 *  mask, not the entry of the owning group. */
export function setMode(access: PosixAccess, mode: number): PosixAccess {
  const { owner, group, acl } = access;
  if (acl === undefined) return { owner, group, mode };
  const hasMask = find(entriesOf(access), "access", "mask") !== undefined;
  const entries = entriesOf(access).map((entry) => {
    if (entry.scope === "default" || entry.id !== "") return entry;
    const shift = { user: 6, group: 3, mask: 3, other: 0 }[entry.type];
    const isKept = entry.type === "group" && hasMask;
    return isKept ? entry : { ...entry, bits: (mode >> shift) & bitsMax };
  });
  return { owner, group, mode, acl: formatEntries(entries) };
}
