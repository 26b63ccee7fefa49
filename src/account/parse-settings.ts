import {
  accountDefaults,
  changeFeedRetentionDaysMax,
  deletedNameSecondsMax,
  developmentAccount,
  developmentAccountKey,
  developmentAccountName,
  encryptionScopesMax,
  quotaBytesMax,
  requestsPerSecondCeiling,
  softDeleteDaysMax,
} from "./settings.ts";
import type { AccountKeys, AccountSettings } from "./settings.ts";
import { accountNameForm, isObject, type SettingsResult } from "./object-reader.ts";
import { isScopeName } from "../protocol/encryption.ts";
import {
  findSubscriptionNameProblem,
  parseSubscription,
  subscriptionsMax,
  type SubscriptionInput,
} from "./parse-subscription.ts";

/** Parses the settings of accounts: of a configuration file, of the variable AZURITE_ACCOUNTS, of
 *  `start`, and of accounts in the store. Problems are collected, one line each. */

/** The settings of one account in the configuration; omitted ones have the values of
 *  `accountDefaults`. */
export interface AccountInput {
  readonly keys?: readonly string[];
  readonly versioning?: boolean;
  readonly containerSoftDeleteDays?: number;
  readonly shareSoftDeleteDays?: number;
  readonly publicAccess?: boolean;
  readonly sharedKey?: boolean;
  readonly lastAccessTracking?: boolean;
  readonly deletedNameSeconds?: number;
  readonly hierarchicalNamespace?: boolean;
  readonly requestsPerSecondMax?: number;
  readonly quotaBytes?: number;
  readonly smb?: { readonly requireEncryption?: boolean };
  readonly changeFeed?: boolean;
  readonly changeFeedRetentionDays?: number;
  readonly encryptionScopes?: readonly string[] | string | undefined;
  readonly subscriptions?: Readonly<Record<string, SubscriptionInput>>;
}

/** The accounts of the configuration, by name. */
export type AccountInputs = Readonly<Record<string, AccountInput>>;

/** Suffixes that URLs append to the account name: the secondary endpoint and the static website. */
const urlSuffixPattern = /(?:-secondary|\.web)$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const booleanFields = [
  "versioning",
  "publicAccess",
  "sharedKey",
  "lastAccessTracking",
  "hierarchicalNamespace",
  "changeFeed",
] as const;
/** The settings that are whole numbers, 0 to `max`, and their unit for messages. */
const numberFields = {
  containerSoftDeleteDays: { unit: "days", max: softDeleteDaysMax },
  shareSoftDeleteDays: { unit: "days", max: softDeleteDaysMax },
  changeFeedRetentionDays: { unit: "days", max: changeFeedRetentionDaysMax },
  deletedNameSeconds: { unit: "seconds", max: deletedNameSecondsMax },
  requestsPerSecondMax: { unit: "requests", max: requestsPerSecondCeiling },
  quotaBytes: { unit: "bytes", max: quotaBytesMax },
} as const;
const otherFields = ["keys", "smb", "encryptionScopes", "subscriptions"];
const fields: ReadonlySet<string> = new Set([
  ...booleanFields,
  ...Object.keys(numberFields),
  ...otherFields,
]);

export function isConfigurableName(name: string): boolean {
  return accountNameForm.pattern.test(name) && !urlSuffixPattern.test(name);
}

/** Parses the accounts of a server. `variable` is the text of AZURITE_ACCOUNTS
 *  (`name:key1[:key2];…`), `input` the "accounts" object of a configuration. An account without
 *  configured keys has those of the variable; the development account has its published key. If
 *  neither names an account, there is only the development account, or with
 *  `noDevelopmentAccount` none. */
export function parseAccounts(
  input: unknown,
  variable: string | undefined,
  { noDevelopmentAccount = false }: { readonly noDevelopmentAccount?: boolean | undefined } = {},
): SettingsResult<readonly AccountSettings[]> {
  const problems: string[] = [];
  const keysByName = parseVariable(variable, problems);
  const configured = new Map<string, unknown>();
  if (isObject(input))
    for (const [name, value] of Object.entries(input)) configured.set(name, value);
  else if (input !== undefined) problems.push('"accounts" must be an object: { "name": { … } }');
  const names = new Set([...keysByName.keys(), ...configured.keys()]);
  const accounts = [...names].map((name) =>
    parseAccount(name, configured.get(name) ?? {}, keysByName.get(name), problems),
  );
  if (problems.length > 0) return { ok: false, problems };
  const isDefault = accounts.length === 0 && !noDevelopmentAccount;
  return { ok: true, value: isDefault ? [developmentAccount()] : accounts };
}

/** Parses the settings of one account, as the admin API gets and stores them. */
export function parseAccountSettings(
  name: string,
  input: unknown,
): SettingsResult<AccountSettings> {
  const problems: string[] = [];
  const account = parseAccount(name, input, undefined, problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: account };
}

function parseVariable(text: string | undefined, problems: string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const entries = (text ?? "").split(";").filter((entry) => entry.trim() !== "");
  for (const entry of entries) {
    const [name = "", ...keys] = entry.trim().split(":");
    if (keys.length === 0 || keys.length > 2) {
      // The entry may be a key, so the message does not contain it.
      problems.push("AZURITE_ACCOUNTS: each account must read name:key1 or name:key1:key2");
    } else if (found.has(name)) problems.push(`AZURITE_ACCOUNTS: account "${name}" is named twice`);
    else found.set(name, keys.filter((key, index) => index === 0 || key !== "").map(canonicalKey));
  }
  return found;
}

/** The key as this server stores it. Azurite accepts any text and ignores characters that are not
 *  base64. A text without a single byte of key becomes the empty key, which is rejected later. */
function canonicalKey(text: string): string {
  return Buffer.from(text, "base64").toString("base64");
}

function parseAccount(
  name: string,
  value: unknown,
  fallbackKeys: readonly string[] | undefined,
  problems: string[],
): AccountSettings {
  const where = `account "${name}"`;
  if (!isConfigurableName(name)) {
    problems.push(
      `${where}: a name is ${accountNameForm.allowed}, and does not end in -secondary or .web`,
    );
  }
  const object = isObject(value) ? value : {};
  if (!isObject(value)) problems.push(`${where}: its settings must be an object`);
  for (const field of Object.keys(object)) {
    if (!fields.has(field)) problems.push(`${where}: there is no setting "${field}"`);
  }
  const reader = { where, object, problems };
  if (object["versioning"] === true && object["hierarchicalNamespace"] === true) {
    problems.push(`${where}: "versioning" contradicts "hierarchicalNamespace"`);
  }
  if (object["changeFeed"] === true && object["hierarchicalNamespace"] === true) {
    problems.push(`${where}: "changeFeed" contradicts "hierarchicalNamespace"`);
  }
  return {
    name,
    keys: parseKeys(reader, name, fallbackKeys),
    versioning: parseBoolean(reader, "versioning"),
    publicAccess: parseBoolean(reader, "publicAccess"),
    sharedKey: parseBoolean(reader, "sharedKey"),
    lastAccessTracking: parseBoolean(reader, "lastAccessTracking"),
    containerSoftDeleteDays: parseNumber(reader, "containerSoftDeleteDays"),
    shareSoftDeleteDays: parseNumber(reader, "shareSoftDeleteDays"),
    deletedNameSeconds: parseNumber(reader, "deletedNameSeconds"),
    hierarchicalNamespace: parseBoolean(reader, "hierarchicalNamespace"),
    requestsPerSecondMax: parseNumber(reader, "requestsPerSecondMax"),
    quotaBytes: parseNumber(reader, "quotaBytes"),
    smb: parseSmb(reader),
    changeFeed: parseBoolean(reader, "changeFeed"),
    changeFeedRetentionDays: parseNumber(reader, "changeFeedRetentionDays"),
    ...parseScopes(reader),
    ...parseSubscriptions(reader),
  };
}

/** The names of encryption scopes: a list, or a text with commas as on a command line. */
function parseScopes({ where, object, problems }: SettingsReader) {
  const given = object["encryptionScopes"];
  if (given === undefined) return {};
  const names: unknown = typeof given === "string" ? given.split(",") : given;
  const isName = (name: unknown): name is string => typeof name === "string" && isScopeName(name);
  if (Array.isArray(names) && names.length <= encryptionScopesMax && names.every(isName)) {
    return { encryptionScopes: names };
  }
  problems.push(
    `${where}: "encryptionScopes" must be a list of at most ${encryptionScopesMax} names of 3 to ` +
      "63 letters, digits and hyphens",
  );
  return {};
}

function parseSubscriptions({ where, object, problems }: SettingsReader) {
  const given = object["subscriptions"];
  if (given === undefined) return {};
  if (!isObject(given) || Object.keys(given).length > subscriptionsMax) {
    const problem = `must be an object with at most ${subscriptionsMax} subscriptions`;
    problems.push(`${where}: "subscriptions" ${problem}`);
    return {};
  }
  const parsed = Object.entries(given).flatMap(([name, input]) => {
    const wrong = findSubscriptionNameProblem(name);
    if (wrong !== undefined) problems.push(`${where}: ${wrong}`);
    const subscription = parseSubscription(`${where}: subscription "${name}"`, input);
    if (!subscription.ok) problems.push(...subscription.problems);
    return subscription.ok ? [[name, subscription.value] as const] : [];
  });
  return { subscriptions: Object.fromEntries(parsed) };
}

/** Input of the parsers of single settings. `where` starts the text of a problem; problems are
 *  added to `problems`. */
interface SettingsReader {
  readonly where: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly problems: string[];
}

function parseKeys(
  reader: SettingsReader,
  name: string,
  fallback: readonly string[] | undefined,
): AccountKeys {
  const development = name === developmentAccountName ? [developmentAccountKey] : undefined;
  const given = reader.object["keys"] ?? fallback ?? development;
  if (given === undefined) {
    reader.problems.push(`${reader.where}: "keys" is missing: one or two keys in base64`);
    return [""];
  }
  const keys: readonly unknown[] = Array.isArray(given) ? given : [];
  const [first, second, ...more] = keys;
  if (!isKey(first) || (second !== undefined && !isKey(second)) || more.length > 0) {
    reader.problems.push(`${reader.where}: "keys" must be a list of one or two keys in base64`);
    return [""];
  }
  return second === undefined ? [first] : [first, second];
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && value !== "" && base64Pattern.test(value);
}

function parseBoolean(reader: SettingsReader, field: (typeof booleanFields)[number]): boolean {
  const value = reader.object[field] ?? accountDefaults[field];
  if (typeof value === "boolean") return value;
  reader.problems.push(`${reader.where}: "${field}" must be true or false`);
  return accountDefaults[field];
}

function parseNumber(reader: SettingsReader, field: keyof typeof numberFields): number {
  const { unit, max } = numberFields[field];
  const value = reader.object[field] ?? accountDefaults[field];
  const whole = typeof value === "number" && Number.isInteger(value) ? value : -1;
  if (whole >= 0 && whole <= max) return whole;
  reader.problems.push(
    `${reader.where}: "${field}" must be a whole number of ${unit}, 0 to ${max}`,
  );
  return 0;
}

function parseSmb(reader: SettingsReader): AccountSettings["smb"] {
  const value = reader.object["smb"] ?? {};
  const known = isObject(value) && Object.keys(value).every((key) => key === "requireEncryption");
  const required = isObject(value) ? (value["requireEncryption"] ?? false) : undefined;
  if (known && typeof required === "boolean") return { requireEncryption: required };
  reader.problems.push(`${reader.where}: "smb" must be { "requireEncryption": true or false }`);
  return accountDefaults.smb;
}
