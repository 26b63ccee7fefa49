import { readFile } from "node:fs/promises";
import { isObject, parseAccounts } from "../account/parse-settings.ts";
import type { AccountInputs, Parsed } from "../account/parse-settings.ts";
import { accountsOf } from "../account/settings.ts";
import type { Accounts, AccountSettings } from "../account/settings.ts";
import type { Log } from "../base/world.ts";

export interface AccountSources {
  /** The file of `--config`. */
  readonly config?: string | undefined;
  /** The accounts of `start({ accounts })`. */
  readonly given?: AccountInputs | undefined;
  /** The text of AZURITE_ACCOUNTS. */
  readonly variable?: string | undefined;
}

export interface ReloadableAccounts extends Accounts {
  /** Reads the configuration again; one with mistakes is logged, and the old one stays. `prepare`
   *  runs before anyone sees the new accounts. */
  reload(log: Log, prepare: (names: readonly string[]) => Promise<void>): Promise<void>;
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
      if (next.ok) {
        const loaded = accountsOf(next.value);
        await prepare(loaded.names());
        current = loaded;
        log.info({ accounts: current.names() }, "account settings were read again");
      } else {
        log.error({ problems: next.problems }, "account settings stay as they were");
      }
    },
  };
  return { ok: true, value: accounts };
}

async function readAccounts(sources: AccountSources): Promise<Parsed<readonly AccountSettings[]>> {
  const { config, given, variable } = sources;
  if (config === undefined) return parseAccounts(given, variable);
  const file = await readConfig(config);
  if (!file.ok) return file;
  const parsed = parseAccounts(file.value, variable);
  if (parsed.ok) return parsed;
  return { ok: false, problems: parsed.problems.map((problem) => `${config}: ${problem}`) };
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
    if (!isObject(content)) return refuse('must hold an object: { "accounts": { … } }');
    const stranger = Object.keys(content).find((name) => name !== "accounts");
    if (stranger !== undefined) return refuse(`there is no setting "${stranger}"`);
    return { ok: true, value: content["accounts"] };
  } catch {
    // The parser's own message would quote the file, and with it perhaps a key.
    return refuse("is not valid JSON");
  }
}
