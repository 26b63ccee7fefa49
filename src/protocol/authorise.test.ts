import { describe, expect, test } from "vitest";
import { authorise, authoriseWithRecord, isDecidedByRecord, mayOverwrite } from "./authorise.ts";
import {
  anonymousPrincipal,
  coversEntity,
  keyPrincipal,
  type AccountSasPrincipal,
  type Principal,
  type ServiceSasPrincipal,
} from "./principal.ts";
import type { Permission, StoredPolicy } from "./permission.ts";
import type { Result } from "./result.ts";

const blob = { service: "blob", version: "2021-06-08" } as const;
const read: Permission = { letters: "r", resourceType: "o", publicRead: "blob" };
const list: Permission = { letters: "l", resourceType: "c", publicRead: "container" };
const create: Permission = { letters: "cw", resourceType: "c", sas: "account-only" };
const acl: Permission = { resourceType: "c", sas: "none" };
const upsert: Permission = { letters: "au", needsEveryLetter: true, resourceType: "o" };

const accountSas: AccountSasPrincipal = {
  kind: "account-sas",
  version: "2021-06-08",
  services: "bq",
  resourceTypes: "co",
  permissions: "rl",
  encryptionScope: undefined,
};
const containerSas: ServiceSasPrincipal = {
  kind: "service-sas",
  version: "2021-06-08",
  resource: {
    service: "blob",
    kind: "container",
    name: "c",
    path: undefined,
    snapshotOrVersion: "",
  },
  permissions: "racwdl",
  start: undefined,
  expiry: 100n,
  identifier: undefined,
  encryptionScope: undefined,
  overrides: undefined,
  entities: undefined,
};
const bearer: Principal = { kind: "bearer", objectId: "o", tenantId: "t" };

function outcome(result: Result<unknown>): string {
  return result.ok ? "ok" : result.fault.code;
}

describe("before a record is read", () => {
  test.each<[string, Principal, Permission, string]>([
    ["a key does everything", keyPrincipal, acl, "ok"],
    ["so does a bearer", bearer, acl, "ok"],
    ["account SAS with letter and type", accountSas, read, "ok"],
    [
      "without the letter",
      { ...accountSas, permissions: "w" },
      read,
      "AuthorizationPermissionMismatch",
    ],
    [
      "without the type",
      { ...accountSas, resourceTypes: "sc" },
      read,
      "AuthorizationResourceTypeMismatch",
    ],
    [
      "without the service",
      { ...accountSas, services: "ft" },
      read,
      "AuthorizationServiceMismatch",
    ],
    ["account SAS creates", { ...accountSas, permissions: "c" }, create, "ok"],
    ["account SAS on an ACL", accountSas, acl, "AuthorizationFailure"],
    ["service SAS with letter", containerSas, list, "ok"],
    ["without", { ...containerSas, permissions: "r" }, list, "AuthorizationPermissionMismatch"],
    ["service SAS never creates a container", containerSas, create, "AuthorizationFailure"],
    ["service SAS on an ACL", containerSas, acl, "AuthorizationFailure"],
    [
      "one letter of two is not both",
      { ...accountSas, permissions: "a" },
      upsert,
      "AuthorizationPermissionMismatch",
    ],
    ["both are", { ...accountSas, permissions: "ua" }, upsert, "ok"],
    ["any token will do", accountSas, { resourceType: "sco" }, "ok"],
    ["anonymous reads may turn out well", anonymousPrincipal, read, "ok"],
    ["anonymous writes never", anonymousPrincipal, create, "NoAuthenticationInformation"],
    [
      "an old token's refusal",
      { ...containerSas, version: "2014-02-14" },
      create,
      "ResourceNotFound",
    ],
  ])("%s", (_, principal, need, expected) => {
    expect(outcome(authorise(principal, need, blob))).toBe(expected);
  });

  test("the missing resource type is named from 2024-11-04 on", () => {
    const detailOf = (version: string) => {
      const target = { service: "blob", version } as const;
      const result = authorise({ ...accountSas, resourceTypes: "sc" }, read, target);
      return result.ok ? undefined : result.fault.detail?.elements;
    };
    expect(detailOf("2024-08-04")).toBeUndefined();
    expect(detailOf("2024-11-04")).toEqual({
      ExtendedErrorDetail: "SignedResourceTypes 'o' is required to perform this operation.",
    });
  });

  test("a delegation key requires a bearer token", () => {
    const need: Permission = { resourceType: "s", bearerOnly: true };
    expect(authorise(keyPrincipal, need, blob)).toMatchObject({
      fault: {
        code: "AuthenticationFailed",
        detail: {
          elements: {
            AuthenticationErrorDetail: "Only authentication scheme Bearer is supported",
          },
        },
      },
    });
    expect(outcome(authorise(bearer, need, blob))).toBe("ok");
  });

  test("a table SAS covers its own table only", () => {
    const resource = {
      service: "table",
      kind: "table",
      name: "Mine",
      path: undefined,
      snapshotOrVersion: "",
    } as const;
    const target = { service: "table", version: "2019-02-02" } as const;
    const principal = { ...containerSas, resource };
    const to = (table: string) => outcome(authorise(principal, read, { ...target, table }));
    expect(to("mine")).toBe("ok");
    expect(to("yours")).toBe("AuthorizationFailure");
  });
});

describe("without credentials", () => {
  const hiddenNeed: Permission = { resourceType: "sco", notFoundIfAnonymous: true };
  test.each([
    ["blob", "2019-12-12", create, "NoAuthenticationInformation"],
    ["blob", "2019-02-02", create, "ResourceNotFound"],
    ["blob", undefined, create, "ResourceNotFound"],
    ["queue", "2018-11-09", create, "ResourceNotFound"],
    ["queue", "2019-12-12", create, "NoAuthenticationInformation"],
    ["table", "2019-12-12", create, "ResourceNotFound"],
    ["table", "2020-12-06", create, "NoAuthenticationInformation"],
    ["file", "2022-11-02", create, "ResourceNotFound"],
    ["file", "2026-06-06", create, "NoAuthenticationInformation"],
    ["blob", "2021-06-08", hiddenNeed, "ResourceNotFound"],
  ] as const)("%s at %s", (service, version, need, expected) => {
    expect(outcome(authorise(anonymousPrincipal, need, { service, version }))).toBe(expected);
  });

  test.each([
    ["blob", read, "ok"],
    ["blob", list, "NoAuthenticationInformation"],
    ["container", read, "ok"],
    ["container", list, "ok"],
    [undefined, read, "NoAuthenticationInformation"],
  ] as const)("a container open to %s", (publicAccess, need, expected) => {
    const access = { policies: [], publicAccess, publicAccessPermitted: true, wallNow: 1n };
    expect(outcome(authoriseWithRecord(anonymousPrincipal, need, blob, access))).toBe(expected);
  });

  test("an account may forbid public access of all its containers", () => {
    const access = {
      policies: [],
      publicAccess: "container",
      publicAccessPermitted: false,
      wallNow: 1n,
    } as const;
    const answer = authoriseWithRecord(anonymousPrincipal, read, blob, access);
    expect(outcome(answer)).toBe("PublicAccessNotPermitted");
    expect(outcome(authoriseWithRecord(anonymousPrincipal, read, blob, undefined))).toBe(
      "NoAuthenticationInformation",
    );
  });
});

describe("stored access policies", () => {
  const named = { ...containerSas, permissions: undefined, expiry: undefined, identifier: "p" };
  const policy: StoredPolicy = { id: "p", start: 10n, expiry: 20n, permission: "r" };
  const decide = (
    principal: ServiceSasPrincipal,
    policies: readonly StoredPolicy[],
    wallNow = 15n,
    need = read,
  ) => {
    const access = { policies, publicAccessPermitted: true, wallNow };
    return outcome(authoriseWithRecord(principal, need, blob, access));
  };

  test("supply the fields that the token omits", () => {
    expect(isDecidedByRecord(named)).toBe(true);
    expect(outcome(authorise(named, read, blob))).toBe("ok");
    expect(decide(named, [{ id: "P" }, policy])).toBe("ok");
    expect(decide(named, [policy], 15n, list)).toBe("AuthorizationPermissionMismatch");
  });

  test.each([
    ["too early", named, [policy], 9n],
    ["too late", named, [policy], 20n],
    ["unknown", named, [{ ...policy, id: "P" }], 15n],
    ["no policies at all", named, [], 15n],
    ["expiry in both", { ...named, expiry: 20n }, [policy], 15n],
    ["start in both", { ...named, start: 10n }, [policy], 15n],
    ["permission in both", { ...named, permissions: "r" }, [policy], 15n],
    ["expiry in neither", named, [{ id: "p", permission: "r" }], 15n],
    ["permission in neither", named, [{ id: "p", expiry: 20n, permission: "" }], 15n],
  ] as const)("refuse a token: %s", (_, principal, policies, wallNow) => {
    expect(decide(principal, policies, wallNow)).toBe("AuthenticationFailed");
  });

  test("a resolved principal is final", () => {
    const access = { policies: [policy], publicAccessPermitted: true, wallNow: 15n };
    const resolved = authoriseWithRecord(named, read, blob, access);
    expect(resolved.ok && isDecidedByRecord(resolved.value)).toBe(false);
    expect(resolved).toMatchObject({ value: { permissions: "r", expiry: 20n } });
  });
});

test("only `w` overwrites", () => {
  expect(mayOverwrite({ ...containerSas, permissions: "c" })).toBe(false);
  expect(mayOverwrite({ ...containerSas, permissions: "cw" })).toBe(true);
  expect(mayOverwrite(keyPrincipal)).toBe(true);
  expect(mayOverwrite(anonymousPrincipal)).toBe(false);
});

test.each([
  ["A", "4", false],
  ["A", "5", true],
  ["B", "1", true],
  ["C", "7", true],
  ["C", "8", false],
  ["D", "1", false],
])("a token from (A, 5) to (C, 7) covers (%s, %s): %s", (partitionKey, rowKey, covered) => {
  const entities = {
    startPartitionKey: "A",
    startRowKey: "5",
    endPartitionKey: "C",
    endRowKey: "7",
  };
  expect(coversEntity({ ...containerSas, entities }, { partitionKey, rowKey })).toBe(covered);
  expect(coversEntity(containerSas, { partitionKey, rowKey })).toBe(true);
});
