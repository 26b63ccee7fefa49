import { describe, expect, test } from "vitest";
import { formatAcl, formatPermissions, parseAcl, setAcl, type PosixAccess } from "./posix-acl.ts";
import {
  executeBit,
  grants,
  mayAccess,
  mayEmpty,
  mayRemove,
  maySetOwners,
  newPathAccess,
  readBit,
  writeBit,
  type AccessNeed,
  type PathKind,
} from "./posix-access.ts";

const own = { owner: "$superuser", group: "$superuser" };
const plain: PosixAccess = { ...own, mode: 0o750 };

function withAcl(text: string, access: PosixAccess = plain): PosixAccess {
  return setAcl(access, parseAcl(text) ?? []) as PosixAccess;
}

describe("a new path", () => {
  test.each<[PathKind, number | undefined, number, string]>([
    ["file", undefined, 0o027, "rw-r-----"],
    ["directory", undefined, 0o027, "rwxr-x---"],
    ["directory", 0o777, 0o027, "rwxr-x---"],
    ["file", 0o777, 0o057, "rwx-w----"],
    ["file", 0o777, 0, "rwxrwxrwx"],
    ["directory", 0o1777, 0o027, "rwxr-x--T"],
  ])("%s with mode %o under umask %o", (kind, mode, umask, expected) => {
    const access = newPathAccess({ kind, ...own, mode, umask, parent: plain });
    expect(formatPermissions(access)).toBe(expected);
  });

  const parent = withAcl(
    "user::rwx,group::r-x,other::---,default:user:someuser:rwx,default:other::r-x",
  );

  test("a file gets the default entries of its directory instead of the umask", () => {
    const access = newPathAccess({ kind: "file", ...own, mode: undefined, umask: 0o777, parent });
    expect(formatAcl(access)).toBe("user::rw-,user:someuser:rwx,group::r-x,mask::rw-,other::r--");
    expect(formatPermissions(access)).toBe("rw-rw-r--+");
  });

  test("a directory passes them on as well", () => {
    const access = newPathAccess({ kind: "directory", ...own, mode: 0o750, umask: 0, parent });
    expect(formatAcl(access)).toBe(
      "user::rwx,user:someuser:rwx,group::r-x,mask::r-x,other::---," +
        "default:user::rwx,default:user:someuser:rwx,default:group::r-x,default:mask::rwx," +
        "default:other::r-x",
    );
  });
});

describe("the class of the caller decides", () => {
  const access = withAcl(
    "user::r--,user:named:rwx,group::-w-,group:staff:r-x,mask::rw-,other::--x",
    { owner: "owner", group: "staffers", mode: 0 },
  );
  test.each<[string, readonly string[], number, boolean]>([
    ["owner", [], readBit, true],
    ["owner", ["staffers"], writeBit, false],
    ["named", [], readBit | writeBit, true],
    // The mask bounds named entries and the owning group, never the owner or other.
    ["named", [], executeBit, false],
    ["member", ["staffers"], writeBit, true],
    ["member", ["staff"], readBit, true],
    ["member", ["staff"], executeBit, false],
    // One group grants each.
    ["member", ["staff", "staffers"], readBit | writeBit, true],
    ["member", ["staff", "staffers"], executeBit, false],
    ["stranger", [], executeBit, true],
    ["stranger", [], readBit, false],
    ["stranger", [], 0, true],
  ])("%s of groups %j needs %i: %s", (objectId, groups, bits, expected) => {
    expect(grants(access, { objectId, groups }, bits)).toBe(expected);
  });
});

describe("along the way", () => {
  const caller = { objectId: "me", groups: [] };
  const open: PosixAccess = { ...own, mode: 0o777 };
  const closed: PosixAccess = { ...own, mode: 0o776 };
  const readOnly: PosixAccess = { ...own, mode: 0o775 };
  const sticky: PosixAccess = { ...own, mode: 0o1777 };
  const mine: PosixAccess = { owner: "me", group: "me", mode: 0o700 };
  test.each<[string, PosixAccess[], PosixAccess | undefined, AccessNeed, boolean]>([
    ["every directory lets pass", [open, open], open, { target: readBit }, true],
    ["one directory without execute", [closed, open], open, { target: readBit }, false],
    ["the path itself refuses", [open], { ...own, mode: 0o770 }, { target: readBit }, false],
    ["a new path needs its parent", [open, open], undefined, { parent: writeBit }, true],
    ["the parent refuses", [open, readOnly], undefined, { parent: writeBit }, false],
    ["sticky: not an owner", [sticky], open, { parent: writeBit, removesFromParent: true }, false],
    [
      "sticky: the path's owner",
      [sticky],
      mine,
      { parent: writeBit, removesFromParent: true },
      true,
    ],
    [
      "sticky: the directory's owner",
      [{ ...sticky, owner: "me" }],
      open,
      { parent: writeBit, removesFromParent: true },
      true,
    ],
    ["only the owner changes access", [open], open, { owner: true }, false],
    ["the owner does", [open], mine, { owner: true }, true],
    ["the root directory has no parent", [], open, { parent: writeBit, target: readBit }, true],
  ])("%s", (_title, ancestors, target, need, expected) => {
    expect(mayAccess({ ancestors, target }, caller, need)).toBe(expected);
  });
});

describe("owner and group", () => {
  const current = { owner: "me", group: "mine" };
  test.each([
    [undefined, undefined, true],
    ["me", "mine", true],
    [undefined, "team", true],
    [undefined, "strangers", false],
    ["other", undefined, false],
    ["other", "team", false],
  ])("%s and %s may be set by the owner: %s", (owner, group, expected) => {
    const caller = { objectId: "me", groups: ["team"] };
    expect(maySetOwners(current, { owner, group }, caller)).toBe(expected);
  });
});

test.each([
  ["a plain directory", 0o777, "other", true],
  ["a directory with the sticky bit", 0o1777, "other", false],
  ["a directory with the sticky bit", 0o1777, "me", true],
])("from %s (%o) a path of %s may be removed: %s", (_title, mode, owner, expected) => {
  const caller = { objectId: "me", groups: [] };
  expect(mayRemove({ ...own, mode }, { ...plain, owner }, caller)).toBe(expected);
});

test.each([
  [0o700, true],
  [0o300, false],
  [0o500, false],
  [0o600, false],
])("a directory with mode %o may be emptied by its owner: %s", (mode, expected) => {
  const caller = { objectId: own.owner, groups: [] };
  expect(mayEmpty({ ...own, mode }, caller)).toBe(expected);
});
