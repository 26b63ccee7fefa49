import type { Log } from "../base/world.ts";
import type { Store, View } from "../store/store.ts";
import type { AccountChange } from "./account-changes.ts";
import { accounts, accountsState, type StoredAccount } from "./account-record.ts";
import { parseAccountSettings } from "./parse-settings.ts";
import type { AccountSettings } from "./settings.ts";

/** The settings of all stored accounts, as they were at the last `refresh`. No watcher keeps them
 *  up to date: a request that was authenticated with outdated ones fails in its transaction
 *  (`loadAccount`) or in its authentication, and the server then refreshes them. Requests of other
 *  accounts therefore cost nothing. */
export class StoredAccounts {
  readonly #store: Store;
  readonly #log: Log;
  /** Undefined: no account was ever stored. */
  #revision: bigint | undefined;
  #settings: ReadonlyMap<string, AccountSettings> = new Map();
  #refreshing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  get settings(): ReadonlyMap<string, AccountSettings> {
    return this.#settings;
  }

  /** Reads the accounts if one has changed; resolves to whether one has since the call. The state
   *  that is read is not older than the call: a call during a refresh waits for the one after it,
   *  which all such calls share. */
  async refresh(): Promise<boolean> {
    const before = this.#revision;
    await this.#refreshOnce();
    // Not what the last refresh has found: the one before it may have read the change.
    return this.#revision !== before;
  }

  #refreshOnce(): Promise<void> {
    if (this.#refreshing === undefined) {
      this.#refreshing = this.#refresh().finally(() => (this.#refreshing = undefined));
      return this.#refreshing;
    }
    this.#next ??= this.#refreshing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#refreshOnce();
      });
    return this.#next;
  }

  /** Takes over a change of this process, without reading all accounts. */
  apply({ name, stored, before, after }: AccountChange): void {
    if (before !== this.#revision) return;
    const next = new Map(this.#settings);
    const settings = stored && this.#parse(name, stored);
    if (settings === undefined) next.delete(name);
    else next.set(name, settings);
    this.#settings = next;
    this.#revision = after;
  }

  #refresh(): Promise<void> {
    return this.#store.snapshot(async (view) => {
      const value = await view.get(accountsState.key("accounts"));
      const revision = value && accountsState.codec.decode(value).revision;
      if (revision === this.#revision) return;
      this.#settings = await this.#readAll(view);
      this.#revision = revision;
    });
  }

  async #readAll(view: View): Promise<ReadonlyMap<string, AccountSettings>> {
    const found = new Map<string, AccountSettings>();
    for await (const entries of view.range(accounts.range([]))) {
      for (const { key, value } of entries) {
        const { stored } = accounts.codec.decode(value);
        const name = String(accounts.parts(key)[0]);
        const settings = stored && this.#parse(name, stored);
        if (settings !== undefined) found.set(name, settings);
      }
    }
    return found;
  }

  /** Undefined if the settings are invalid, for example written by a newer release. */
  #parse(name: string, { keys, settings, revision }: StoredAccount): AccountSettings | undefined {
    const parsed = parseAccountSettings(name, { ...settings, keys });
    if (parsed.ok) return { ...parsed.value, settingsRevision: revision };
    this.#log.error({ problems: parsed.problems }, "stored account is invalid; not served");
    return undefined;
  }
}
