import type { Log } from "../base/world.ts";
import type { Store, View } from "../store/store.ts";
import { readRecord } from "../store/typed-records.ts";
import type { AccountChange } from "./account-changes.ts";
import { accountsState, readAccounts, type StoredAccount } from "./account-record.ts";
import { parseAccountSettings } from "./parse-settings.ts";
import type { AccountSettings } from "./settings.ts";
import { readIdentity, type StoredIdentity } from "./identity-manager.ts";

/** The settings of accounts and identities that the admin API has stored, in the memory of each
 *  process. `data/accounts.ts` combines them with those of the configuration. */

/** The stored principals and role assignments with the revision of their last change. */
interface IdentityState extends StoredIdentity {
  readonly revision: bigint;
}

/** The settings of all stored accounts and identities, as they were at the last `refresh`. No
 *  watcher keeps them up to date: a request that was authenticated with outdated ones fails in its
 *  transaction (`loadAccount`) or in its authentication, and the server then refreshes them.
 *  Requests of other accounts therefore cost nothing. */
export class StoredAccounts {
  readonly #store: Store;
  readonly #log: Log;
  /** Revision of the stored accounts in `#settings`. Undefined if no account was ever stored. */
  #revision: bigint | undefined;
  #settings: ReadonlyMap<string, AccountSettings> = new Map();
  #identity: IdentityState | undefined;
  #refreshing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  get settings(): ReadonlyMap<string, AccountSettings> {
    return this.#settings;
  }

  /** The stored identities as of the last refresh; undefined if none were ever stored. */
  get identity(): IdentityState | undefined {
    return this.#identity;
  }

  /** Reads changed accounts and identities. Resolves to whether anything has changed since the
   *  call. The state that is read is not older than the call: a call during a refresh waits for the
   *  next refresh, which all calls during the first one share. */
  async refresh(): Promise<boolean> {
    const before = this.#revision;
    const identity = this.#identity;
    await this.#refreshOnce();
    // Compares with the revision before the call: not only the last refresh may have read the
    // change, but also the one before it.
    return this.#revision !== before || this.#identity !== identity;
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

  /** Applies a change that this process has made, without reading all accounts again. */
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
      const [accounts, identities] = await Promise.all([
        readRecord(view, accountsState, "accounts"),
        readRecord(view, accountsState, "identity"),
      ]);
      const [revision, identity] = [accounts?.revision, identities?.revision];
      if (revision !== this.#revision) {
        this.#settings = await this.#readAll(view);
        this.#revision = revision;
      }
      if (identity === this.#identity?.revision) return;
      this.#identity =
        identity === undefined ? undefined : { ...(await readIdentity(view)), revision: identity };
    });
  }

  async #readAll(view: View): Promise<ReadonlyMap<string, AccountSettings>> {
    const found = new Map<string, AccountSettings>();
    for (const [name, { stored }] of await readAccounts(view)) {
      const settings = stored && this.#parse(name, stored);
      if (settings !== undefined) found.set(name, settings);
    }
    return found;
  }

  /** Parses stored settings. Undefined if they are invalid, for example written by a newer
   *  release. */
  #parse(name: string, { keys, settings, revision }: StoredAccount): AccountSettings | undefined {
    const parsed = parseAccountSettings(name, { ...settings, keys });
    if (parsed.ok) return { ...parsed.value, settingsRevision: revision };
    this.#log.error({ problems: parsed.problems }, "stored account is invalid; not served");
    return undefined;
  }
}
