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
import {
  accountNameForm,
  flag,
  isObject,
  readFields,
  whole,
  type FieldInputs,
  type FieldPlace,
  type Form,
  type SettingsResult,
} from "./field-table.ts";
import { isScopeName } from "../protocol/encryption.ts";
import {
  findSubscriptionNameProblem,
  parseSubscription,
  subscriptionsMax,
  type SubscriptionInput,
} from "./parse-subscription.ts";

/** Parses the settings of accounts: of a configuration file, of the variable AZURITE_ACCOUNTS, of
 *  `start`, and of accounts in the store. Problems are collected, one line each. */

/** Suffixes that URLs append to the account name: the secondary endpoint and the static website. */
const urlSuffixPattern = /(?:-secondary|\.web)$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads null, which returns a setting to its default, as absent. */
function orDefault<T>(form: Form<T>): Form<T> {
  return (value, place) => form(value ?? undefined, place);
}

function count(unit: string, max: number): Form<number> {
  return orDefault(whole({ min: 0, max, unit }));
}

const accountFields = {
  keys: orDefault(parseKeys),
  versioning: orDefault(flag),
  containerSoftDeleteDays: count("days", softDeleteDaysMax),
  shareSoftDeleteDays: count("days", softDeleteDaysMax),
  publicAccess: orDefault(flag),
  sharedKey: orDefault(flag),
  lastAccessTracking: orDefault(flag),
  deletedNameSeconds: count("seconds", deletedNameSecondsMax),
  hierarchicalNamespace: orDefault(flag),
  requestsPerSecondMax: count("requests", requestsPerSecondCeiling),
  quotaBytes: count("bytes", quotaBytesMax),
  smb: orDefault(parseSmb),
  changeFeed: orDefault(flag),
  changeFeedRetentionDays: count("days", changeFeedRetentionDaysMax),
  encryptionScopes: parseScopes,
  subscriptions: parseSubscriptions,
};

type OwnForms = "keys" | "smb" | "encryptionScopes" | "subscriptions";

/** The settings of one account in the configuration; omitted ones have the values of
 *  `accountDefaults`. */
export type AccountInput = FieldInputs<Omit<typeof accountFields, OwnForms>> & {
  readonly keys?: readonly string[];
  readonly smb?: { readonly requireEncryption?: boolean };
  readonly encryptionScopes?: readonly string[] | string | undefined;
  readonly subscriptions?: Readonly<Record<string, SubscriptionInput>>;
};

/** The accounts of the configuration, by name. */
export type AccountInputs = Readonly<Record<string, AccountInput>>;

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
  for (const field of ["versioning", "changeFeed"]) {
    if (object[field] !== true || object["hierarchicalNamespace"] !== true) continue;
    problems.push(`${where}: "${field}" contradicts "hierarchicalNamespace"`);
  }
  const development = name === developmentAccountName ? [developmentAccountKey] : undefined;
  const withKeys = { ...object, keys: object["keys"] ?? fallbackKeys ?? development };
  const read = readFields(where, withKeys, { fields: accountFields, problems });
  const given = Object.entries(read).filter(([, setting]) => setting !== undefined);
  return { ...accountDefaults, name, keys: [""], ...Object.fromEntries(given) };
}

/** The names of encryption scopes: a list, or a text with commas as on a command line. */
function parseScopes(given: unknown, place: FieldPlace): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const names: unknown = typeof given === "string" ? given.split(",") : given;
  const isName = (name: unknown): name is string => typeof name === "string" && isScopeName(name);
  if (Array.isArray(names) && names.length <= encryptionScopesMax && names.every(isName)) {
    return names;
  }
  return place.refuse(
    `must be a list of at most ${encryptionScopesMax} names of 3 to 63 letters, digits and hyphens`,
  );
}

function parseSubscriptions(
  given: unknown,
  place: FieldPlace,
): AccountSettings["subscriptions"] | undefined {
  if (given === undefined) return undefined;
  const { where, problems } = place;
  if (!isObject(given) || Object.keys(given).length > subscriptionsMax) {
    return place.refuse(`must be an object with at most ${subscriptionsMax} subscriptions`);
  }
  const parsed = Object.entries(given).flatMap(([name, input]) => {
    const wrong = findSubscriptionNameProblem(name);
    if (wrong !== undefined) problems.push(`${where}: ${wrong}`);
    const subscription = parseSubscription(`${where}: subscription "${name}"`, input);
    if (!subscription.ok) problems.push(...subscription.problems);
    return subscription.ok ? [[name, subscription.value] as const] : [];
  });
  return Object.fromEntries(parsed);
}

function parseKeys(given: unknown, place: FieldPlace): AccountKeys | undefined {
  const allowed = "one or two keys in base64";
  if (given === undefined) return place.refuse(`is missing: ${allowed}`);
  const keys: readonly unknown[] = Array.isArray(given) ? given : [];
  const [first, second, ...more] = keys;
  if (!isKey(first) || (second !== undefined && !isKey(second)) || more.length > 0) {
    return place.refuse(`must be a list of ${allowed}`);
  }
  return second === undefined ? [first] : [first, second];
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && value !== "" && base64Pattern.test(value);
}

function parseSmb(value: unknown, place: FieldPlace): AccountSettings["smb"] | undefined {
  if (value === undefined) return undefined;
  const known = isObject(value) && Object.keys(value).every((key) => key === "requireEncryption");
  const required = isObject(value) ? (value["requireEncryption"] ?? false) : undefined;
  if (known && typeof required === "boolean") return { requireEncryption: required };
  return place.refuse('must be { "requireEncryption": true or false }');
}
