import {
  bitsMax,
  entriesOf,
  find,
  formatEntries,
  keyOf,
  ofScope,
  withEntries,
  type AclEntry,
  type AclName,
  type AclScope,
  type PosixAccess,
} from "./posix-acl.ts";

/** Replaces the list. Of the access entries, those of the owner, the owning group and other stay
 *  where none are given, and all of them if only default entries are given: Hadoop sends such
 *  lists. */
export function setAcl(access: PosixAccess, entries: readonly AclEntry[]): PosixAccess | undefined {
  const given = new Set(entries.map(keyOf));
  const isForAccess = isChanged(entries, "access");
  const kept = ofScope(entriesOf(access), "access").filter(
    (entry) => !isForAccess || (isBase(entry) && !given.has(keyOf(entry))),
  );
  return withEntries(access, [...kept, ...entries]);
}

/** Whether every list has such an entry. */
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
