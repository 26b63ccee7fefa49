import { readFile } from "node:fs/promises";
import { isObject, parseAccounts } from "../account/parse-settings.ts";
import type { AccountInputs, Parsed } from "../account/parse-settings.ts";
import { accountsOf, developmentAccountName } from "../account/settings.ts";
import type { Accounts, AccountSettings } from "../account/settings.ts";
import type { Log } from "../base/world.ts";

export interface AccountSources {
  /** Path given with `--config`. */
  readonly config?: string | undefined;
  /** The accounts of `start({ accounts })`. */
  readonly given?: AccountInputs | undefined;
  /** The text of AZURITE_ACCOUNTS. */
  readonly variable?: string | undefined;
  /** `--enableHierarchicalNamespace`: of the development account. */
  readonly hierarchicalNamespace?: boolean | undefined;
}

export interface ReloadableAccounts extends Accounts {
  /** Rereads the configuration. If it is invalid, logs the problems and keeps the old accounts.
   *  `prepare` runs before the new accounts are used and returns further problems. */
  reload(log: Log, prepare: (accounts: Accounts) => Promise<readonly string[]>): Promise<void>;
}

export async function openAccounts(sources: AccountSources): Promise<Parsed<ReloadableAccounts>> {
  const first = await readAccounts(sources);
  if (!first.ok) return first;
  let current = accountsOf(first.value);
  const accounts: ReloadableAccounts = {
    get: (name) => current.get(name),
    names: () => current.names(),
    async reload(log, prepare) {
      const next = await readAccounts(sources);
      const loaded = next.ok ? accountsOf(next.value) : undefined;
      const problems = next.ok ? await prepare(accountsOf(next.value)) : next.problems;
      if (loaded !== undefined && problems.length === 0) {
        current = loaded;
        log.info({ accounts: current.names() }, "account settings reloaded");
      } else {
        log.error({ problems }, "account settings not reloaded; correct the file");
      }
    },
  };
  return { ok: true, value: accounts };
}

async function readAccounts(sources: AccountSources): Promise<Parsed<readonly AccountSettings[]>> {
  const { config, given, variable } = sources;
  const file = config === undefined ? undefined : await readConfig(config);
  if (file?.ok === false) return file;
  const input = file === undefined ? given : file.value;
  const parsed = parseAccounts(input, variable);
  const chosen = parsed.ok ? chooseNamespace(sources, input, parsed.value) : parsed;
  if (chosen.ok || config === undefined) return chosen;
  return { ok: false, problems: chosen.problems.map((problem) => `${config}: ${problem}`) };
}

/** The switch stands for a setting of the development account. */
function chooseNamespace(
  { hierarchicalNamespace }: AccountSources,
  input: unknown,
  accounts: readonly AccountSettings[],
): Parsed<readonly AccountSettings[]> {
  if (hierarchicalNamespace !== true) return { ok: true, value: accounts };
  const refuse = (why: string): Parsed<never> => ({
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

async function readConfig(path: string): Promise<Parsed<unknown>> {
  const refuse = (why: string): Parsed<unknown> => ({ ok: false, problems: [`${path}: ${why}`] });
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    return refuse(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  try {
    const content: unknown = JSON.parse(text);
    if (!isObject(content)) return refuse('must be an object: { "accounts": { … } }');
    const unknown = Object.keys(content).find((name) => name !== "accounts");
    if (unknown !== undefined) return refuse(`no setting "${unknown}"`);
    return { ok: true, value: content["accounts"] };
  } catch {
    // Without the parser's message, which would quote the file and possibly a key.
    return refuse("is not valid JSON");
  }
}
