import { describe, expect, test } from "vitest";
import {
  formatAcl,
  formatPermissions,
  modifyAcl,
  parseAcl,
  parseAclNames,
  parsePermissions,
  parseUmask,
  removeAcl,
  setAcl,
  setMode,
  type PosixAccess,
} from "./posix-acl.ts";

const id = "68bb5e3a-fa8c-4c6b-b60c-37b9ff8ad9c5";
const other = "7e0f1b8e-0000-4444-9999-aaaaaaaaaaaa";
const plain: PosixAccess = { owner: "$superuser", group: "$superuser", mode: 0o750 };

function listed(access: PosixAccess | undefined): readonly string[] {
  return access === undefined ? [] : [formatPermissions(access), formatAcl(access)];
}

describe("permissions", () => {
  test.each([
    ["0777", 0o777, "rwxrwxrwx"],
    ["750", 0o750, "rwxr-x---"],
    ["1777", 0o1777, "rwxrwxrwt"],
    ["1776", 0o1776, "rwxrwxrwT"],
    ["rwxr--r--", 0o744, "rwxr--r--"],
    ["rwxrwxrwt", 0o1777, "rwxrwxrwt"],
    ["rw---x--t", 0o1611, "rw---x--t"],
    ["rw---x--T", 0o1610, "rw---x--T"],
    ["---------", 0, "---------"],
  ])("%s is read and written", (text, mode, symbolic) => {
    expect(parsePermissions(text)).toBe(mode);
    expect(formatPermissions({ ...plain, mode })).toBe(symbolic);
  });

  test.each(["", "asdf", "0888", "77", "00777", "2777", "rwxrwxrw", "rwxrwxrwX", "rwsrwxrwx"])(
    "%j is malformed",
    (text) => {
      expect(parsePermissions(text)).toBeUndefined();
    },
  );

  test.each([
    ["0057", 0o057],
    ["027", 0o027],
    ["0000", 0],
    ["rwx", undefined],
    ["1000", undefined],
  ])("umask %j", (text, umask) => {
    expect(parseUmask(text)).toBe(umask);
  });
});

describe("parsing a list", () => {
  test.each([
    "",
    "asdf",
    "user:rwx",
    "user::rwxx",
    "user::rwx,user::r--",
    "mask:someuser:rwx",
    "other:someuser:rwx",
    "default:default:user::rwx",
    "user::rwx,",
    `user:${"x".repeat(257)}:rwx`,
    Array.from({ length: 33 }, (_, at) => `user:${at}:rwx`).join(","),
  ])("%j is malformed", (text) => {
    expect(parseAcl(text)).toBeUndefined();
  });

  test("32 entries of each scope are the most", () => {
    const named = (scope: string) =>
      Array.from({ length: 32 }, (_, at) => `${scope}user:${at}:rwx`);
    expect(parseAcl([...named(""), ...named("default:")].join(","))).toHaveLength(64);
  });

  test.each([
    [`mask,default:user,default:group,user:${id},default:group:${id}`, 5],
    ["user:someuser:", 1],
  ])("names to remove: %j", (text, count) => {
    expect(parseAclNames(text)).toHaveLength(count);
  });

  test.each(["user:someuser:rwx", "who:someuser", ""])("no names to remove: %j", (text) => {
    expect(parseAclNames(text)).toBeUndefined();
  });
});

describe("replacing the list", () => {
  test.each([
    // Recorded: canonical order, and the middle triple is the mask.
    [
      "user::rwx,group::r--,other::---,mask::rwx",
      ["rwxrwx---+", "user::rwx,group::r--,mask::rwx,other::---"],
    ],
    ["user::rwx,group::r--,other::---", ["rwxr-----", "user::rwx,group::r--,other::---"]],
    [
      `other::--x,group::r--,user:${id}:-wx,user::rwx`,
      ["rwxrwx--x+", `user::rwx,user:${id}:-wx,group::r--,mask::rwx,other::--x`],
    ],
    [
      `user::rwx,group::r-x,other::---,default:user:${id}:rwx`,
      [
        "rwxr-x---+",
        "user::rwx,group::r-x,other::---," +
          `default:user::rwx,default:user:${id}:rwx,default:group::r-x,default:mask::rwx,` +
          "default:other::---",
      ],
    ],
    ["user::rw-,group::r--", ["rw-r-----", "user::rw-,group::r--,other::---"]],
    [`user:${id}:rwx`, ["rwxrwx---+", `user::rwx,user:${id}:rwx,group::r-x,mask::rwx,other::---`]],
  ])("%s", (text, expected) => {
    expect(listed(setAcl(plain, parseAcl(text) ?? []))).toEqual(expected);
  });

  test("the sticky bit stays", () => {
    const sticky = { ...plain, mode: 0o1750 };
    const entries = parseAcl("user::rwx,group::r--,other::-w-") ?? [];
    expect(listed(setAcl(sticky, entries))[0]).toBe("rwxr---wT");
  });
});

const extended = setAcl(
  plain,
  parseAcl(`user::rwx,user:${id}:rwx,group::r-x,mask::r-x,other::---,default:user::rwx`) ?? [],
) as PosixAccess;

describe("changing entries", () => {
  test.each([
    ["user::r--", ["r--r-x---", "user::r--,group::r-x,other::---"]],
    [`user:${id}:-w-`, ["rwxrwx---+", `user::rwx,user:${id}:-w-,group::r-x,mask::rwx,other::---`]],
    [
      `user:${id}:-w-,mask::r--`,
      ["rwxr-----+", `user::rwx,user:${id}:-w-,group::r-x,mask::r--,other::---`],
    ],
  ])("of a plain list: %s", (text, expected) => {
    expect(listed(modifyAcl(plain, parseAcl(text) ?? []))).toEqual(expected);
  });

  test("computes a mask again that is not given", () => {
    const changed = modifyAcl(extended, parseAcl(`user:${other}:--x`) ?? []);
    expect(listed(changed)[1]).toBe(
      `user::rwx,user:${id}:rwx,user:${other}:--x,group::r-x,mask::rwx,other::---,` +
        "default:user::rwx,default:group::r-x,default:other::---",
    );
  });
});

describe("removing entries", () => {
  const defaults = "default:user::rwx,default:group::r-x,default:other::---";
  test.each([
    [`user:${id}`, ["rwxr-x---+", `user::rwx,group::r-x,other::---,${defaults}`]],
    [`user:${id},default:user,default:group,default:other`, ["rwxr-x---"]],
    // A mask that named entries need is computed again.
    [
      "mask",
      ["rwxrwx---+", `user::rwx,user:${id}:rwx,group::r-x,mask::rwx,other::---,${defaults}`],
    ],
    ["user:absent", listed(extended)],
    ["user,group,other", listed(extended)],
  ])("%s", (text, expected) => {
    const removed = listed(removeAcl(extended, parseAclNames(text) ?? []));
    expect(removed.slice(0, expected.length)).toEqual(expected);
  });
});

describe("setting the bits", () => {
  test("of a plain list changes the three entries", () => {
    expect(listed(setMode(plain, 0o1641))).toEqual([
      "rw-r----t",
      "user::rw-,group::r--,other::--x",
    ]);
  });

  test("of a list with a mask changes the mask and not the owning group", () => {
    expect(listed(setMode(extended, 0o620))).toEqual([
      "rw--w----+",
      `user::rw-,user:${id}:rwx,group::r-x,mask::-w-,other::---,` +
        "default:user::rwx,default:group::r-x,default:other::---",
    ]);
  });
});
