import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import type { AccountAnswer } from "./account-access.ts";
import { addressOptions, jsonOption, onServerOrStore } from "./admin-client.ts";
import { defineCommand, WrongUsage, type Argument } from "./command.ts";
import { encryptionOption } from "./with-stores.ts";

const nameWord: Argument = { value: "NAME", kind: "name" };
const settingWords: Argument = { value: "SETTING=VALUE", kind: "name", isList: true };

/** `etagere account`: manages the accounts that a server stores, besides those of its
 *  configuration. `account-access.ts` carries the actions out. */
export const accountCommand = defineCommand({
  name: "account",
  summary: "create, change, list and delete accounts in the data store",
  description: [
    "Manages the accounts in the data store of a running server, or of the data folder of a " +
      "stopped one. Accounts of --config and AZURITE_ACCOUNTS are only listed.",
  ],
  actions: {
    list: { arguments: [], help: "all accounts; unserved: has data, but is not configured" },
    create: {
      arguments: [nameWord, settingWords],
      help: "NAME: 3 to 24 lower-case letters and digits",
    },
    delete: { arguments: [nameWord], help: "an account without data, with --force any account" },
    "rotate-key": {
      arguments: [nameWord, { value: "1|2", kind: "choice", choices: ["1", "2"] }],
      help: "replace a key; the old one is rejected from then on",
    },
    settings: {
      arguments: [nameWord, settingWords],
      help: "change settings, as versioning=true; VALUE may be default",
    },
  },
  options: {
    ...addressOptions,
    keyFile: {
      kind: "stream",
      value: "FILE",
      actions: ["create", "rotate-key"],
      help:
        "file with the key or keys in base64, one per line, or - for standard input; without it, " +
        "keys are random",
    },
    quota: {
      kind: "name",
      value: "SIZE",
      actions: ["create", "settings"],
      help:
        "most bytes that the account stores, as 10GiB, or default for no limit; the same as " +
        "quotaBytes=SIZE",
    },
    adopt: {
      kind: "switch",
      actions: ["create"],
      help: "take over the data of an account of this name",
    },
    force: { kind: "switch", actions: ["delete"], help: "also delete the data" },
    ...encryptionOption,
    ...jsonOption,
  },
  exitCodes: ["done", "not done"],
  example: "etagere account create photos hierarchicalNamespace=true",
  run: async ({ action, words, options }) => {
    const { keyFile } = options;
    const read = actionOf(action, words, options);
    const does = { ...read, keys: keyFile === undefined ? undefined : await readKeys(keyFile) };
    if (action === "rotate-key" && does.keys !== undefined && does.keys.length !== 1) {
      throw new Error(`--keyFile: must contain one key, got ${does.keys.length}`);
    }
    const { runOnFolder, runOnServer } = await import("./account-access.ts");
    const report = await onServerOrStore(options, {
      onServer: (server) => runOnServer(server, does),
      onStore: () => runOnFolder(options, does),
    });
    return { report, text: printed(does, report) };
  },
});

async function readKeys(file: string): Promise<readonly string[]> {
  const content = file === "-" ? await readAll(process.stdin) : await readFile(file, "utf8");
  return content.split(/\s+/).filter((word) => word !== "");
}

function printed(does: AccountRequest, answer: AccountAnswer): string {
  const { accounts, keys = [], connectionString, settings, explorerLink } = answer;
  const lines = (accounts ?? []).map(({ name, source, hierarchicalNamespace }) =>
    [name.padEnd(24), source.padEnd(10), hierarchicalNamespace === true ? "hierarchical" : ""]
      .join(" ")
      .trimEnd(),
  );
  if (does.action === "delete") lines.push(`${does.name}: deleted`);
  if (does.action === "create") lines.push(`${does.name}: created`);
  lines.push(...keys.map((key, index) => `key ${index + 1}: ${key}`));
  if (connectionString !== undefined) lines.push(connectionString);
  if (settings !== undefined) lines.push(JSON.stringify(settings, undefined, 2));
  if (explorerLink !== undefined) {
    lines.push(`the explorer requires a login now; this link works once: ${explorerLink}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** An action of `etagere account`, as `account-access.ts` carries it out. It has the arguments of
 *  all actions; each action reads its own. */
export interface AccountRequest {
  readonly action: "list" | "create" | "delete" | "rotate-key" | "settings";
  readonly name: string;
  /** The key that `rotate-key` replaces: an account has two. */
  readonly number: 1 | 2;
  readonly settings: SettingWords;
  readonly adopt: boolean;
  readonly force: boolean;
  /** The keys of `--keyFile`. Undefined: the server chooses random keys. */
  readonly keys: readonly string[] | undefined;
}

type SettingWords = Readonly<Record<string, unknown>>;

/** Converts the words after `etagere account`, whose number `readWords` has checked, to an action.
 *  Throws `WrongUsage` if a setting cannot be parsed. */
export function actionOf(
  action: AccountRequest["action"],
  [name = "", ...rest]: readonly string[],
  { adopt, force, quota }: Pick<AccountRequest, "adopt" | "force"> & { quota: string | undefined },
): Omit<AccountRequest, "keys"> {
  const hasSettings = action === "create" || action === "settings";
  const settings = hasSettings ? { ...parseSettingWords(rest), ...quotaOf(quota) } : {};
  return { action, name, number: rest[0] === "1" ? 1 : 2, settings, adopt, force };
}

function quotaOf(quota: string | undefined): SettingWords {
  if (quota === undefined) return {};
  const quotaBytes = quota === "default" ? null : parseBytes(quota);
  if (quotaBytes !== undefined) return { quotaBytes };
  throw new WrongUsage(`--quota: a size such as 10GiB, got "${quota}"`);
}

/** Parses settings (`versioning=true`, `smb.requireEncryption=true`). The value `default` becomes
 *  null, which returns a setting to its default. The server validates names and values. */
function parseSettingWords(words: readonly string[]): SettingWords {
  const settings: Record<string, unknown> = {};
  for (const word of words) {
    const [, name = "", field, value = ""] = /^(\w+)(?:\.(\w+))?=(.+)$/.exec(word) ?? [];
    if (name === "") throw new WrongUsage(`${word}: settings read name=value`);
    const present = settings[name];
    settings[name] =
      field === undefined
        ? valueOf(value)
        : { ...(typeof present === "object" ? present : {}), [field]: valueOf(value) };
  }
  return settings;
}

function valueOf(text: string): unknown {
  if (text === "default") return null;
  if (text === "true" || text === "false") return text === "true";
  return parseBytes(text) ?? text;
}

const bytesPerUnit = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

/** Parses the value of a setting such as `quotaBytes`: a whole number, or a number of bytes with a
 *  unit (`10GiB`). Undefined for other text. */
function parseBytes(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,15})([KMGT]iB)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * bytesPerUnit[unit as keyof typeof bytesPerUnit];
}
