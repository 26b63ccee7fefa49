import { describe, expect, it } from "vitest";
import { parseAccounts } from "./parse-settings.ts";
import { developmentAccountKey } from "./settings.ts";

const key = "a2V5LW9uZQ==";
const other = "a2V5LXR3bw==";

function accepted(input: unknown, variable?: string) {
  const parsed = parseAccounts(input, variable);
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.value;
}

function refused(input: unknown, variable?: string): readonly string[] {
  const parsed = parseAccounts(input, variable);
  return parsed.ok ? [] : parsed.problems;
}

describe("accounts", () => {
  it("default to the development account", () => {
    expect(accepted(undefined).map(({ name, keys }) => ({ name, keys }))).toEqual([
      { name: "devstoreaccount1", keys: [developmentAccountKey] },
    ]);
  });

  it("from the variable replace the development account", () => {
    const accounts = accepted(undefined, `first:${key};second:${key}:${other};`);
    expect(accounts.map(({ name, keys }) => [name, ...keys])).toEqual([
      ["first", key],
      ["second", key, other],
    ]);
  });

  it("of a configuration take missing keys from the variable, and Azure's defaults", () => {
    const [account] = accepted({ first: { versioning: true } }, `first:${key}`);
    expect(account).toEqual({
      name: "first",
      keys: [key],
      versioning: true,
      containerSoftDeleteDays: 0,
      shareSoftDeleteDays: 0,
      publicAccess: true,
      sharedKey: true,
      lastAccessTracking: false,
      deletedNameSeconds: 0,
      requestsPerSecondMax: 0,
      quotaBytes: 0,
      hierarchicalNamespace: false,
      smb: { requireEncryption: false },
      changeFeed: false,
      changeFeedRetentionDays: 0,
    });
  });

  it.each([
    [["first", "second-2"]],
    // As on a command line.
    ["first,second-2"],
  ])("may list encryption scopes: %j", (encryptionScopes) => {
    const [account] = accepted({ first: { keys: [key], encryptionScopes } });
    expect(account?.encryptionScopes).toEqual(["first", "second-2"]);
  });

  it.each([[["a"]], ["a b"], [7], [[7]]])("reject the encryption scopes %j", (encryptionScopes) => {
    const text = refused({ first: { keys: [key], encryptionScopes } }).join();
    expect(text).toMatch(/"encryptionScopes" must be a list/);
  });

  it.each([
    ["a short key", "name:a2V5", ["name", "a2V5"]],
    ["a key without its padding", "name:a2V5MQ", ["name", "a2V5MQ=="]],
    ["a key in the URL alphabet", "name:-_-_", ["name", "+/+/"]],
    ["an empty second key", "name:a2V5:", ["name", "a2V5"]],
    ["a name of capitals and underscores", "My_Account.1:a2V5", ["My_Account.1", "a2V5"]],
  ])("of the variable may have %s, as in Azurite", (_what, variable, expected) => {
    const [account] = accepted(undefined, variable);
    expect([account?.name, ...(account?.keys ?? [])]).toEqual(expected);
  });

  it("of the variable need a key of at least one byte", () => {
    expect(refused(undefined, "name:*").join()).toMatch(/one or two keys in base64/);
    expect(refused(undefined, "name::a2V5").join()).toMatch(/one or two keys in base64/);
  });

  it.each([
    ["a bad name", { "Has Space": { keys: [key] } }, /a name is 1 to 128/],
    ["a name for the secondary", { "a-secondary": { keys: [key] } }, /not end in -secondary/],
    ["no keys", { first: {} }, /"keys" is missing/],
    ["an empty key", { first: { keys: [""] } }, /one or two keys in base64/],
    ["three keys", { first: { keys: [key, key, key] } }, /one or two keys in base64/],
    ["keys that are not base64", { first: { keys: ["*"] } }, /one or two keys in base64/],
    ["an unknown setting", { first: { keys: [key], version: 1 } }, /no setting "version"/],
    ["a boolean as text", { first: { keys: [key], sharedKey: "yes" } }, /must be true or false/],
    ["half a day", { first: { keys: [key], containerSoftDeleteDays: 0.5 } }, /0 to 365/],
    ["a year and a day", { first: { keys: [key], containerSoftDeleteDays: 366 } }, /0 to 365/],
    ["over an hour", { first: { keys: [key], deletedNameSeconds: 3601 } }, /seconds, 0 to 3600/],
    ["a quota with a unit", { first: { keys: [key], quotaBytes: "1GiB" } }, /bytes, 0 to 45/],
    ["a quota below 0", { first: { keys: [key], quotaBytes: -1 } }, /bytes, 0 to 4503/],
    ["an unknown SMB setting", { first: { keys: [key], smb: { on: true } } }, /"smb" must be/],
    ["a list", [], /must be an object/],
    ["an account that is no object", { first: true }, /settings must be an object/],
  ])("refuse %s in one line", (_what, input, message) => {
    expect(refused(input).join("\n")).toMatch(message);
  });

  it("reject a malformed variable without printing text that may be a key", () => {
    expect(refused(undefined, key)).toEqual([
      "AZURITE_ACCOUNTS: each account must read name:key1 or name:key1:key2",
    ]);
    expect(refused(undefined, `a:${key};a:${key}`)).toEqual([
      'AZURITE_ACCOUNTS: account "a" is named twice',
    ]);
  });

  it("report all problems at once", () => {
    expect(refused({ first: { versioning: 1 }, second: {} })).toHaveLength(3);
  });
});
