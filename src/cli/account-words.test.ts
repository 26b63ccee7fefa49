import { expect, it } from "vitest";
import { accountCommand, actionOf } from "./account-command.ts";
import { readWords } from "./parse-words.ts";

/** The action that the words name. */
function read(words: string): unknown {
  const { given, problems } = readWords(words.split(" "), accountCommand);
  expect(problems).toEqual([]);
  const options = given.options as unknown as Parameters<typeof actionOf>[2];
  return actionOf(given.action as Parameters<typeof actionOf>[0], given.words, options);
}

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
  expect(read(words)).toMatchObject(does);
});

it.each([
  ["", "list, create, delete, rotate-key or settings is required"],
  ["creat abc", "creat: no such action of account; did you mean create?"],
  [
    "remove abc",
    "remove: no such action of account; it has list, create, delete, rotate-key and settings",
  ],
  ["list abc", 'list: unexpected word "abc"'],
  ["create", "create: NAME is required"],
  ["rotate-key abc 3", 'rotate-key: 1|2 must be 1 or 2, not "3"'],
  ["rotate-key abc", "rotate-key: 1|2 is required"],
  ["delete abc def", 'delete: unexpected word "def"'],
  ["delete abc --adopt", "only create takes --adopt"],
  ["list --force", "only delete takes --force"],
  ["list --keyFile x", "only create and rotate-key take --keyFile"],
  ["list --quota 1GiB", "only create and settings take --quota"],
  ["list --url http://x --location y", "--url contradicts --location"],
])("reports a mistake in %j", (words, problem) => {
  const given = words === "" ? [] : words.split(" ");
  expect(readWords(given, accountCommand).problems).toEqual([problem]);
});

it.each([
  ["create abc versioning", "versioning: settings read name=value"],
  ["create abc --quota 1GB", '--quota: a size such as 10GiB, got "1GB"'],
])("reports a value in %j", (words, problem) => {
  expect(() => read(words)).toThrow(problem);
});
