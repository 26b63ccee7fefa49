import { readFile } from "node:fs/promises";
import type { AccountChange } from "../account/account-changes.ts";
import {
  rulesByAccount,
  unknownAccounts,
  unknownPrincipals,
  withDeveloper,
  type IdentitySettings,
} from "../account/identity.ts";
import { identityFields, parseIdentity, type IdentityInput } from "../account/parse-identity.ts";
import { parseAccounts, type AccountInputs } from "../account/parse-settings.ts";
import { isObject, type SettingsResult } from "../account/field-table.ts";
import {
  accountsOf,
  developmentAccountName,
  isDevelopmentAlone,
  type Accounts,
  type AccountSettings,
} from "../account/settings.ts";
import { withStoredIdentity } from "../account/identity-manager.ts";
import { isListedWebhook } from "../account/subscription.ts";
import type { Log } from "../base/world.ts";
import { jsonFailure } from "../encoding/json-failure.ts";
import type { OAuthMode } from "../http/auth/request.ts";
import type { Store } from "../store/store.ts";
import { StoredAccounts } from "../account/stored-accounts.ts";

/** The accounts and identities of a server: those of the configuration, combined with those in its
 *  store, which administrators create while it runs. `server/start.ts` and `etagere import` open
 *  them. */

/** The sources of the configured accounts: files, variables and options of `start`. */
interface AccountSources {
  readonly config?: string | undefined;
  readonly given?: AccountInputs | undefined;
  /** The principals and roles of `start({ identity })`. */
  readonly identity?: IdentityInput | undefined;
  readonly variable?: string | undefined;
  /** The switch `--enableHierarchicalNamespace`. It applies only to the development account
   *  (`developmentAccountName`). */
  readonly hierarchicalNamespace?: boolean | undefined;
  readonly noDevelopmentAccount?: boolean | undefined;
  /** Whether every listener is on a loopback address. Local programs may then use the developer
   *  identity without a secret. */
  readonly isLocal?: boolean | undefined;
  /** The value of `--oauth`. With `verify` (of signatures), roles decide even if none is
   *  assigned. */
  readonly oauth?: OAuthMode | undefined;
  /** Addresses that `--eventWebhooks` permits to webhooks; undefined: the command sends no
   *  events. */
  readonly webhookPrefixes?: readonly string[] | undefined;
}

/** Reads accounts and identities from the sources. Returns them, or the problems of the sources. */
export async function openAccounts(
  sources: AccountSources,
): Promise<SettingsResult<ServedAccounts>> {
  const first = await readSettings(sources);
  if (!first.ok) return first;
  return { ok: true, value: new ServedAccounts(sources, first.value) };
}

/** The accounts that a server serves now: those of the configuration, and those in its store. */
export class ServedAccounts implements Accounts {
  readonly #sources: AccountSources;
  #configured: ConfiguredSettings;
  #stored: StoredAccounts | undefined;
  /** The stored accounts and identities that `#current` was computed from. */
  #used: StoredParts | undefined;
  #current: Settings;

  constructor(sources: AccountSources, configured: ConfiguredSettings) {
    this.#sources = sources;
    this.#configured = configured;
    this.#current = combine(sources, configured, noneStored);
  }

  get(name: string): AccountSettings | undefined {
    return this.#latest().accounts.get(name);
  }

  names(): readonly string[] {
    return this.#latest().accounts.names();
  }

  /** Principals, roles and issuers, those of the store included. */
  identity(): IdentitySettings {
    return this.#latest().identity;
  }

  /** Whether the configuration describes the account, so that stored settings do not apply. */
  isConfigured(name: string): boolean {
    return this.#configured.names.has(name);
  }

  /** Rereads the stored accounts. Returns whether any has changed since. */
  refresh(): Promise<boolean> {
    return this.#stored?.refresh() ?? Promise.resolve(false);
  }

  /** Serves the stored accounts in addition to the configured ones. */
  async serveStored(store: Store, log: Log): Promise<void> {
    const stored = new StoredAccounts(store, log);
    await stored.refresh();
    this.#stored = stored;
    this.#warnOfUnknown(log);
  }

  /** Takes over a change that this process has stored. */
  apply(change: AccountChange): void {
    this.#stored?.apply(change);
  }

  /** Rereads the configuration. If it is invalid, logs the problems and keeps the old accounts.
   *  `prepare` runs before the new accounts are used and returns further problems. */
  async reload(
    log: Log,
    prepare: (accounts: Accounts) => Promise<readonly string[]>,
  ): Promise<void> {
    await this.refresh();
    const next = await readSettings(this.#sources);
    const problems = next.ok ? await prepare(accountsOf(next.value.list)) : next.problems;
    if (next.ok && problems.length === 0) {
      this.#configured = next.value;
      this.#used = undefined;
      log.info({ accounts: this.names() }, "account settings reloaded");
      this.#warnOfUnknown(log);
    } else {
      log.error({ problems }, "account settings not reloaded; correct the file");
    }
  }

  /** Logs names in role assignments that are unknown and perhaps misspelt, because such an
   *  assignment has no effect. */
  #warnOfUnknown(log: Log): void {
    const identity = this.identity();
    const accounts = unknownAccounts(identity, this.names()).slice(0, loggedNamesMax);
    const unknown = "role assignments or issuers name unknown accounts; they apply once created";
    if (accounts.length > 0) log.warn({ accounts }, unknown);
    // Without verification, tokens may name any principal, so that none is known to be wrong.
    if (this.#sources.oauth === "basic") return;
    const principals = unknownPrincipals(identity).slice(0, loggedNamesMax);
    const useless = "role assignments name unknown principals; correct them or configure an issuer";
    if (principals.length > 0) log.warn({ principals }, useless);
  }

  /** Combines configured and stored accounts again if either has changed. */
  #latest(): Settings {
    const { settings, identity } = this.#stored ?? noneStored;
    if (settings === this.#used?.settings && identity === this.#used.identity) return this.#current;
    this.#used = { settings, identity };
    this.#current = combine(this.#sources, this.#configured, this.#stored ?? noneStored);
    return this.#current;
  }
}

const loggedNamesMax = 20;
type StoredParts = Pick<StoredAccounts, "settings" | "identity">;

const noneStored: StoredParts = { settings: new Map(), identity: undefined };

/** The accounts and identities that the configuration describes. */
interface ConfiguredSettings {
  readonly list: readonly AccountSettings[];
  readonly names: ReadonlySet<string>;
  readonly identity: IdentitySettings;
}

/** The accounts and identities that are served now: of the configuration and the store. */
interface Settings {
  readonly accounts: Accounts;
  readonly identity: IdentitySettings;
}

/** Adds the stored accounts that are not configured and the roles. Adds also the identity of a
 *  developer on this machine, who has all roles, but only while every account key is a published
 *  one and every listener is local: no client then gets rights that it lacked. */
function combine(
  { isLocal }: AccountSources,
  { list, names, identity: configured }: ConfiguredSettings,
  { settings, identity: stored }: StoredParts,
): Settings {
  const all = [...list, ...[...settings.values()].filter(({ name }) => !names.has(name))];
  const isDeveloper = isLocal === true && isDevelopmentAlone(accountsOf(all));
  const identity = stored === undefined ? configured : withStoredIdentity(configured, stored);
  const complete = isDeveloper ? withDeveloper(identity) : identity;
  const identityRevision = stored?.revision ?? 0n;
  const rulesOf = rulesByAccount(complete);
  const withRoles = all.map((each) => ({ ...each, identityRevision, roles: rulesOf(each.name) }));
  return { accounts: accountsOf(withRoles), identity: complete };
}

type Content = Readonly<Record<string, unknown>>;

async function readSettings(sources: AccountSources): Promise<SettingsResult<ConfiguredSettings>> {
  const { config, given, identity } = sources;
  const own: Content = { ...identity, accounts: given };
  const content = config === undefined ? { ok: true as const, value: own } : await readFrom(config);
  if (!content.ok) return content;
  const parsed = parseSettings(sources, content.value);
  if (parsed.ok || config === undefined) return parsed;
  return { ok: false, problems: parsed.problems.map((problem) => `${config}: ${problem}`) };
}

function parseSettings(
  sources: AccountSources,
  content: Content,
): SettingsResult<ConfiguredSettings> {
  const input = content["accounts"];
  const parsed = parseAccounts(input, sources.variable, sources);
  if (!parsed.ok) return parsed;
  const chosen = chooseNamespace(sources, input, parsed.value);
  if (!chosen.ok) return chosen;
  const list = chosen.value;
  const names = new Set(list.map(({ name }) => name));
  const identity = parseIdentity(content);
  if (!identity.ok) return identity;
  const unlisted = unlistedWebhooks(sources, list);
  if (unlisted.length > 0) return { ok: false, problems: unlisted };
  if (sources.oauth === "basic" && identity.value.issuers.length > 0) {
    return { ok: false, problems: ['"issuers" contradicts --oauth basic, which verifies nothing'] };
  }
  const hasRoles = identity.value.hasRoles || sources.oauth === "verify";
  return { ok: true, value: { list, names, identity: { ...identity.value, hasRoles } } };
}

/** Returns the problems of subscriptions whose webhook `--eventWebhooks` does not permit: their
 *  events could never be sent. */
function unlistedWebhooks(
  { webhookPrefixes }: AccountSources,
  accounts: readonly AccountSettings[],
): readonly string[] {
  if (webhookPrefixes === undefined) return [];
  return accounts.flatMap(({ name: account, subscriptions = {} }) =>
    Object.entries(subscriptions).flatMap(([name, { destination }]) => {
      const isSent =
        destination.type === "queue" || isListedWebhook(webhookPrefixes, destination.url);
      if (isSent) return [];
      const { origin } = new URL(destination.url);
      const advice = `list the beginning of ${origin} in --eventWebhooks`;
      return [`account "${account}": subscription "${name}": its webhook is not listed: ${advice}`];
    }),
  );
}

/** Applies `--enableHierarchicalNamespace` to the settings of the development account. */
function chooseNamespace(
  { hierarchicalNamespace }: AccountSources,
  input: unknown,
  accounts: readonly AccountSettings[],
): SettingsResult<readonly AccountSettings[]> {
  if (hierarchicalNamespace !== true) return { ok: true, value: accounts };
  const refuse = (why: string): SettingsResult<never> => ({
    ok: false,
    problems: [`enableHierarchicalNamespace: ${why}`],
  });
  const name = developmentAccountName;
  const development = accounts.find((account) => account.name === name);
  if (development === undefined) return refuse(`there is no account "${name}"`);
  const settings = isObject(input) ? input[name] : undefined;
  const isFlat = isObject(settings) && settings["hierarchicalNamespace"] === false;
  if (isFlat) return refuse(`contradicts "hierarchicalNamespace": false of "${name}"`);
  if (development.versioning) return refuse(`contradicts "versioning" of "${name}"`);
  const changed = { ...development, hierarchicalNamespace: true };
  return { ok: true, value: accounts.map((each) => (each === development ? changed : each)) };
}

const contentFields: ReadonlySet<string> = new Set(["accounts", ...identityFields]);

async function readFrom(path: string): Promise<SettingsResult<Content>> {
  const refuse = (why: string): SettingsResult<never> => ({
    ok: false,
    problems: [`${path}: ${why}`],
  });
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    return refuse(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  try {
    const content: unknown = JSON.parse(text);
    if (!isObject(content)) return refuse('must be an object: { "accounts": { … } }');
    const unknown = Object.keys(content).find((name) => !contentFields.has(name));
    if (unknown !== undefined) return refuse(`no setting "${unknown}"`);
    return { ok: true, value: content };
  } catch {
    // The message of the parser is left out: it would quote the file, and perhaps an account key.
    const { line, column } = jsonFailure(text);
    return refuse(`is not valid JSON: error at line ${line}, column ${column}`);
  }
}
