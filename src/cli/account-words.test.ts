import { expect, it } from "vitest";
import { parseAccountWords } from "./account-command.ts";

it.each([
  ["list", { action: "list" }],
  ["create abc", { action: "create", name: "abc", settings: {}, adopt: false }],
  [
    "create abc versioning=true deletedNameSeconds=30 smb.requireEncryption=true --adopt",
    {
      action: "create",
      name: "abc",
      settings: { versioning: true, deletedNameSeconds: 30, smb: { requireEncryption: true } },
      adopt: true,
    },
  ],
  ["delete abc --force", { action: "delete", name: "abc", force: true }],
  ["rotate-key abc 2", { action: "rotate-key", name: "abc", number: 2 }],
  ["settings abc versioning=default", { action: "settings", settings: { versioning: null } }],
  ["settings abc --quota 10GiB", { action: "settings", settings: { quotaBytes: 10 * 1024 ** 3 } }],
  ["settings abc --quota default", { action: "settings", settings: { quotaBytes: null } }],
  ["create abc quotaBytes=2KiB", { action: "create", settings: { quotaBytes: 2048 } }],
])("reads %s", (words, does) => {
  expect(parseAccountWords(words.split(" "))).toMatchObject({ does });
});

it.each([
  ["", "list, create, delete, rotate-key or settings is required"],
  ["remove abc", "list, create, delete, rotate-key or settings is required"],
  ["list abc", "list takes no further words"],
  ["create", "create takes the name of an account"],
  ["create abc versioning", "versioning: settings read name=value"],
  ["rotate-key abc 3", "rotate-key takes the name of an account, and 1 or 2"],
  ["delete abc def", "delete takes the name of an account"],
  ["delete abc --adopt", "only create takes --adopt"],
  ["list --force", "only delete takes --force"],
  ["list --keyFile x", "list takes no --keyFile"],
  ["list --quota 1GiB", "only create and settings take --quota"],
  ["create abc --quota 1GB", '--quota: a size such as 10GiB, got "1GB"'],
  ["list --url http://x --location y", "--url contradicts --location"],
])("reports a mistake in %j", (words, problem) => {
  const given = words === "" ? [] : words.split(" ");
  expect(parseAccountWords(given)).toEqual({ problem });
});
