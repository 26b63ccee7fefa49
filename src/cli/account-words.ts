import { parseCliArguments } from "./parse-cli-arguments.ts";

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

export type SettingWords = Readonly<Record<string, unknown>>;

export interface AccountCommand {
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
