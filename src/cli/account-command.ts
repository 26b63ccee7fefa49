import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { defaultLocation } from "../server/flags.ts";
import { messageOf, StartRefused } from "../host/start-refused.ts";
import type { AccountAnswer } from "./account-access.ts";
import { adminTokenOf } from "./admin-client.ts";
import { NoServer } from "./admin-client.ts";
import { findServer } from "./admin-client.ts";
import { usageError, type Subcommand } from "./subcommand.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";

export const accountCommand: Subcommand = {
  name: "account",
  usage: "list|create|delete|rotate-key|settings [NAME] [--location FOLDER | --url URL]",
  summary: "create, change, list and delete accounts in the data store",
  help: [
    "Manages the accounts in the data store of a running server, or of the data folder of a",
    "stopped one. Accounts of --config and AZURITE_ACCOUNTS are only listed.",
    "",
    "  list                           all accounts; unserved: has data, but is not configured",
    "  create NAME [SETTING=VALUE]…   NAME: 3 to 24 lower-case letters and digits",
    "  delete NAME                    an account without data, with --force any account",
    "  rotate-key NAME 1|2            replace a key; the old one is rejected from then on",
    "  settings NAME [SETTING=VALUE]… change settings, as versioning=true; VALUE may be default",
    "",
    "  -l, --location FOLDER   the server that uses this data folder, or the folder (.etagere)",
    "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
    "      --tokenFile FILE    file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not",
    "                          needed if the data folder is readable",
    "      --keyFile FILE      file with the key or keys in base64, one per line, or - for",
    "                          standard input; without it, keys are random",
    "      --quota SIZE        create, settings: most bytes that the account stores, as 10GiB, or",
    "                          default for no limit; the same as quotaBytes=SIZE",
    "      --adopt             create: take over the data of an account of this name",
    "      --force             delete: also delete the data",
    "      --json              print JSON",
    "",
    "exit code: 0 done, 1 not done",
    "example:   etagere account create photos hierarchicalNamespace=true",
  ],
  run: runAccountCommand,
};

async function runAccountCommand(words: readonly string[]): Promise<number> {
  const command = parseAccountWords(words);
  if ("problem" in command) {
    process.stderr.write(usageError(accountCommand, command.problem));
    return 1;
  }
  try {
    const answer = await run(command);
    process.stdout.write(command.json ? `${JSON.stringify(answer)}\n` : printed(command, answer));
    return 0;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
}

/** Uses the server of the location if one responds, else the folder itself: its store may be opened
 *  by several processes, so a server that starts meanwhile does no harm. */
async function run({ does, url, location, tokenFile, keyFile }: AccountCommand) {
  const keys = keyFile === undefined ? undefined : await readKeys(keyFile);
  if (does.action === "rotate-key" && keys !== undefined && keys.length !== 1) {
    throw new Error(`--keyFile: must contain one key, got ${keys.length}`);
  }
  const { runOnFolder, runOnServer } = await import("./account-access.ts");
  const found = url === undefined ? await findServer(location) : { url };
  const given = await adminTokenOf({ tokenFile });
  if (found === undefined) return runOnFolder(location ?? defaultLocation, { does, keys });
  const server = { ...found, token: given ?? ("token" in found ? found.token : undefined) };
  try {
    return await runOnServer(server, { does, keys });
  } catch (error) {
    if (!(error instanceof NoServer) || url !== undefined) throw error;
    return runOnFolder(location ?? defaultLocation, { does, keys });
  }
}

async function readKeys(file: string): Promise<readonly string[]> {
  const content = file === "-" ? await readAll(process.stdin) : await readFile(file, "utf8");
  return content.split(/\s+/).filter((word) => word !== "");
}

function printed({ does }: AccountCommand, answer: AccountAnswer): string {
  const { accounts, keys = [], connectionString, settings } = answer;
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
  return lines.map((line) => `${line}\n`).join("");
}

/** What `etagere account` is asked to do. */
export type AccountAction =
  | { readonly action: "list" }
  | {
      readonly action: "create";
      readonly name: string;
      readonly settings: SettingWords;
      readonly adopt: boolean;
    }
  | { readonly action: "delete"; readonly name: string; readonly force: boolean }
  | { readonly action: "rotate-key"; readonly name: string; readonly number: 1 | 2 }
  | { readonly action: "settings"; readonly name: string; readonly settings: SettingWords };

type SettingWords = Readonly<Record<string, unknown>>;

interface AccountCommand {
  readonly does: AccountAction;
  readonly url: string | undefined;
  readonly location: string | undefined;
  readonly tokenFile: string | undefined;
  /** File with the keys, `-` for standard input; undefined: random keys. */
  readonly keyFile: string | undefined;
  readonly json: boolean;
}

const options = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  tokenFile: { type: "string" },
  keyFile: { type: "string" },
  json: { type: "boolean" },
  quota: { type: "string" },
  force: { type: "boolean" },
  adopt: { type: "boolean" },
} as const;

type Problem = { readonly problem: string };

/** Parses the words after `etagere account`. */
export function parseAccountWords(words: readonly string[]): AccountCommand | Problem {
  const read = parseCliArguments(words, options);
  if (!read.ok) return read;
  const { texts, switches, others } = read;
  if (texts.has("url") && texts.has("location")) return { problem: "--url contradicts --location" };
  const parsed = actionOf(others, switches);
  if ("problem" in parsed) return parsed;
  const does = withQuota(parsed, texts.get("quota"));
  if ("problem" in does) return does;
  const takesKeys = does.action === "create" || does.action === "rotate-key";
  if (texts.has("keyFile") && !takesKeys) return { problem: `${does.action} takes no --keyFile` };
  for (const [name, action] of Object.entries({ force: "delete", adopt: "create" })) {
    if (switches.has(name) && does.action !== action) {
      return { problem: `only ${action} takes --${name}` };
    }
  }
  return {
    does,
    url: texts.get("url"),
    location: texts.get("location"),
    tokenFile: texts.get("tokenFile"),
    keyFile: texts.get("keyFile"),
    json: switches.has("json"),
  };
}

function actionOf(
  [action = "", name = "", ...rest]: readonly string[],
  switches: ReadonlySet<string>,
): AccountAction | Problem {
  const [only = "", ...more] = rest;
  switch (action) {
    case "list":
      return name === "" ? { action } : { problem: "list takes no further words" };
    case "delete":
      if (name === "" || rest.length > 0) return { problem: "delete takes the name of an account" };
      return { action, name, force: switches.has("force") };
    case "rotate-key":
      if (name === "" || (only !== "1" && only !== "2") || more.length > 0) {
        return { problem: "rotate-key takes the name of an account, and 1 or 2" };
      }
      return { action, name, number: only === "1" ? 1 : 2 };
    case "create":
    case "settings": {
      if (name === "") return { problem: `${action} takes the name of an account` };
      const settings = parseSettingWords(rest);
      if ("problem" in settings) return settings as Problem;
      return action === "create"
        ? { action, name, settings, adopt: switches.has("adopt") }
        : { action, name, settings };
    }
    default:
      return { problem: "list, create, delete, rotate-key or settings is required" };
  }
}

/** Parses words such as `versioning=true` or `smb.requireEncryption=true`; the value `default` is
 *  null, which returns a setting to its default. The server validates names and values. */
function parseSettingWords(words: readonly string[]): SettingWords | Problem {
  const settings: Record<string, unknown> = {};
  for (const word of words) {
    const [, name = "", field, value = ""] = /^(\w+)(?:\.(\w+))?=(.+)$/.exec(word) ?? [];
    if (name === "") return { problem: `${word}: settings read name=value` };
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

/** A whole number, or a number of bytes such as `10GiB`; undefined for other text. */
function parseBytes(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,15})([KMGT]iB)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * bytesPerUnit[unit as keyof typeof bytesPerUnit];
}

/** Adds `--quota` to the settings of create and settings. */
function withQuota(does: AccountAction, quota: string | undefined): AccountAction | Problem {
  if (quota === undefined) return does;
  if (!("settings" in does)) return { problem: "only create and settings take --quota" };
  const quotaBytes = quota === "default" ? null : parseBytes(quota);
  if (quotaBytes === undefined) return { problem: `--quota: a size such as 10GiB, got "${quota}"` };
  return { ...does, settings: { ...does.settings, quotaBytes } };
}
