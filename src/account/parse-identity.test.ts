import assert from "node:assert";
import { describe, expect, it } from "vitest";
import { rulesByAccount, unknownAccounts, unknownPrincipals, withDeveloper } from "./identity.ts";
import { builtInRolesByName } from "../protocol/roles/built-in-roles.ts";
import { Role } from "../protocol/roles/role.ts";
import { parseIdentity } from "./parse-identity.ts";

const secret = "a secret of sixteen or more".replaceAll(" ", "-");

function accepted(input: Readonly<Record<string, unknown>>) {
  const parsed = parseIdentity(input);
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.value;
}

function refused(input: Readonly<Record<string, unknown>>): readonly string[] {
  const parsed = parseIdentity(input);
  return parsed.ok ? [] : parsed.problems;
}

const read = [["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"]];

describe("the identity part of a configuration", () => {
  it("is empty by default: roles do not decide", () => {
    const identity = accepted({});
    expect(identity.hasRoles).toBe(false);
    expect(rulesByAccount(identity)("main")).toBeUndefined();
  });

  it("resolves principals by name, and roles by name or id in any case", () => {
    const identity = accepted({
      principals: { "the app": { objectId: "o1", clientId: "c1", secret } },
      roleAssignments: [
        { principal: "the app", role: "storage blob data READER", account: "main" },
        { principal: "o2", role: "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", container: "docs" },
      ],
    });
    const rules = rulesByAccount(identity)("main");
    expect(rules?.allows(["O1"], read, { service: "blob", name: "x" })).toBe(true);
    expect(rules?.allows(["o2"], read, { service: "blob", name: "x" })).toBe(false);
    expect(rules?.allows(["o2"], read, { service: "blob", name: "docs" })).toBe(true);
    expect(rules?.allows(["o2"], read, { service: "file", name: "docs" })).toBe(false);
    const elsewhere = rulesByAccount(identity)("other");
    expect(elsewhere?.allows(["o1"], read, { service: "blob", name: "x" })).toBe(false);
  });

  it("gives principals the roles of their configured groups", () => {
    const identity = accepted({
      principals: { app: { objectId: "o1", groups: ["g"] } },
      roleAssignments: [{ principal: "g", role: "Storage Blob Data Reader" }],
    });
    const rules = rulesByAccount(identity)("main");
    expect(rules?.allows(["o1"], read, { service: "blob", name: "x" })).toBe(true);
  });

  it("reads each assignment once, however many accounts and principals have some", () => {
    const count = 2000;
    const role = builtInRolesByName.get("storage blob data reader");
    assert(role);
    let reads = 0;
    const assignments = Array.from({ length: count }, (_, at) => ({
      get objectId() {
        reads += 1;
        return at % 2 === 0 ? "g" : `o${at}`;
      },
      role: new Role(role),
      account: at < count / 2 ? `a${at}` : undefined,
      scope: undefined,
    }));
    const identity = { ...accepted({}), assignments, hasRoles: true };
    const rulesOf = rulesByAccount(identity);
    for (let at = 0; at < count; at += 1) rulesOf(`a${at}`);
    expect(reads).toBe(count);
    expect(rulesOf("a0")?.heldBy(["G"])).toHaveLength(1 + count / 4);
    expect(rulesOf("a1")?.heldBy(["G"])).toHaveLength(count / 4);
  });

  it("has custom roles with exclusions, and keeps data apart from management", () => {
    const identity = accepted({
      roles: {
        "All but deletions": { dataActions: ["*"], notDataActions: ["*/delete"] },
        Manager: { actions: ["*"] },
      },
      roleAssignments: [
        { principal: "o1", role: "all but deletions" },
        { principal: "o2", role: "Manager" },
      ],
    });
    const rules = rulesByAccount(identity)("main");
    const at = { service: "blob", name: "x" } as const;
    const blobs = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs";
    expect(rules?.allows(["o1"], read, at)).toBe(true);
    expect(rules?.allows(["o1"], [[`${blobs}/delete`]], at)).toBe(false);
    expect(rules?.allows(["o2"], read, at)).toBe(false);
    expect(
      rules?.allows(["o2"], [["Microsoft.Storage/storageAccounts/blobServices/read"]], at),
    ).toBe(true);
  });

  it("adds a developer with full access on request", () => {
    const identity = withDeveloper({ ...accepted({}), hasRoles: true });
    const id = identity.principals[0]?.objectId ?? "";
    const rules = rulesByAccount(identity)("main");
    expect(rules?.allows([id], read, { service: "blob", name: undefined })).toBe(true);
    expect(rules?.allows(["o1"], read, { service: "blob", name: undefined })).toBe(false);
  });

  it.each([
    [{ principals: [] }, '"principals" must be an object: { "name": { … } }'],
    [{ principals: { app: {} } }, 'principal "app": "objectId" is missing'],
    [
      { principals: { app: { objectId: "o", secret: "short" } } },
      'principal "app": "secret" must have 16 to 1024 characters',
    ],
    [
      { principals: { app: { objectId: "o", colour: 1 } } },
      'principal "app": there is no setting "colour"',
    ],
    [
      { principals: { a: { objectId: "o" }, b: { objectId: "O", clientId: "c" } } },
      '"principals": two have the objectId "o"',
    ],
    [
      { roleAssignments: [{ principal: "o", role: "Reader of minds" }] },
      'role assignment 1: "role" there is no role "Reader of minds"; docs/IDENTITY.md lists them',
    ],
    [
      { roleAssignments: [{ principal: "o", role: "Storage Blob Data Reader", account: "a/b" }] },
      'role assignment 1: "account" must be 1 to 128 letters, digits',
    ],
    [
      {
        roleAssignments: [
          { principal: "o", role: "Storage Blob Data Reader", container: "docs", queue: "jobs" },
        ],
      },
      'role assignment 1: "scope" name one container, queue, table or share',
    ],
    [
      { roleAssignments: [{ principal: "o", role: "Reader", container: "a/b" }] },
      'role assignment 1: "container" must be a name of 3 to 63 lower-case letters',
    ],
    [
      { roleAssignments: [{ principal: "o", role: "Reader", table: "1st" }] },
      'role assignment 1: "table" must be a name of 3 to 63 letters and digits',
    ],
    [
      { roles: { "Storage Blob Data Reader": {} } },
      'role "Storage Blob Data Reader": this name is taken',
    ],
    [
      { managedIdentity: { principal: "none", secret } },
      '"managedIdentity": "principal" there is no principal "none"',
    ],
    [
      { issuers: [{ issuer: "http://login.example" }] },
      'issuer 1: "issuer" must begin with https:// unless it is on this machine',
    ],
    [
      { issuers: [{ issuer: "https://a.example", accounts: ["a b"] }] },
      'issuer 1: "accounts" must be a list',
    ],
  ])("is rejected: %j", (input, problem) => {
    expect(refused(input).join("\n")).toContain(problem);
  });

  it("may name accounts that are created later", () => {
    const identity = accepted({
      roleAssignments: [{ principal: "o", role: "Storage Blob Data Reader", account: "later" }],
      issuers: [{ issuer: "https://a.example", accounts: ["main", "never"] }],
    });
    expect(unknownAccounts(identity, ["main"])).toEqual(["later", "never"]);
    const at = { service: "blob", name: "x" } as const;
    expect(rulesByAccount(identity)("later")?.allows(["o"], read, at)).toBe(true);
    expect(rulesByAccount(identity)("main")?.allows(["o"], read, at)).toBe(false);
  });

  it("names principals that only an external issuer could know", () => {
    const role = "Storage Blob Data Reader";
    const input = {
      principals: { app: { objectId: "O1", groups: ["g"] } },
      roleAssignments: ["app", "o1", "G", "aap"].map((principal) => ({ principal, role })),
    };
    expect(unknownPrincipals(accepted(input))).toEqual(["aap"]);
    const issuers = [{ issuer: "https://a.example" }];
    expect(unknownPrincipals(accepted({ ...input, issuers }))).toEqual([]);
  });

  it("never quotes a secret in a message", () => {
    const problems = refused({ principals: { app: { objectId: "o", secret: "very secret" } } });
    expect(problems.join()).not.toContain("very");
  });
});
