import { describe, expect, it } from "vitest";
import { aclProblem, formatAcl, formatNames, parseAcl, permissionsProblem } from "./acl.ts";

const directory = { isDirectory: true, isWhole: true };
const file = { isDirectory: false, isWhole: true };
const base = "user::rwx,group::r-x,other::---";

describe("access control lists", () => {
  it("are written as they were read", () => {
    const text = `${base},mask::r-x,user:ada:r--,default:user:ada:rwx`;
    expect(formatAcl(parseAcl(text))).toBe(text);
    expect(formatNames(parseAcl("user:ada:r--,default:mask::---"))).toBe("user:ada,default:mask:");
  });

  const cases: readonly (readonly [acl: string, problem: string | undefined])[] = [
    [base, undefined],
    [`${base},user:ada:r--,mask::r--`, undefined],
    [`${base},default:user::rwx,default:group::r-x,default:other::---`, undefined],
    ["", "The list has no entries."],
    ["user::rwx,other::---", "group: is missing."],
    [`${base},user:ada:r--`, "mask: is missing: user:ada needs it."],
    [`${base},default:user::rwx`, "default:group: is missing."],
    [`${base},user:ada:r--,mask::r--,user:ada:rwx`, "user:ada is in the list twice."],
    [`${base},other:ada:r--`, "other:ada has an id: other entries have none."],
    [`${base},user:a b:r--`, "user:a b has an id with spaces or letters outside ASCII."],
  ];

  it.each(cases)("%s: %s", (acl, problem) => {
    expect(aclProblem(parseAcl(acl), directory)).toBe(problem);
  });

  it("of files have no default entries", () => {
    const acl = `${base},default:user::rwx,default:group::r-x,default:other::---`;
    expect(aclProblem(parseAcl(acl), file)).toContain("default:user: is a default entry");
  });

  it("may be partial in a change of descendants", () => {
    const partial = { isDirectory: true, isWhole: false };
    expect(aclProblem(parseAcl("user:ada:r-x"), partial)).toBeUndefined();
  });

  it("have at most 32 entries per scope", () => {
    const named = Array.from({ length: 30 }, (_, index) => `user:u${index}:r--`).join(",");
    expect(aclProblem(parseAcl(`${base},mask::r--,${named}`), directory)).toBe(
      "The list has 34 access entries; 32 are allowed.",
    );
  });

  it("name wrong permissions", () => {
    for (const right of ["0750", "750", "1777", "rwxr-x---", "rwxrwxrwt"]) {
      expect(permissionsProblem(right)).toBeUndefined();
    }
    for (const wrong of ["", "888", "rwx", "rwxr-x---+"]) {
      expect(permissionsProblem(wrong)).toContain("Permissions:");
    }
  });
});
