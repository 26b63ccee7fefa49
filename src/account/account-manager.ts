import type { Ticks } from "../base/ticks.ts";
import { accounts } from "./account-record.ts";
import {
  changeSettings,
  createAccount,
  deleteAccount,
  rotateKey,
  type AccountChange,
  type AccountChangeParts,
  type AccountChangeResult,
  type KeyRotation,
  type NewAccount,
} from "./account-changes.ts";

/** The served accounts, limited to the methods that changes of stored accounts use. */
interface ChangeableAccounts {
  isConfigured(name: string): boolean;
  apply(change: AccountChange): void;
  /** Reads the changes of other processes. */
  refresh(): Promise<boolean>;
}

/** An account with a record in the store. */
interface ListedAccount {
  readonly name: string;
  /** `unserved`: the account was removed from the configuration, its data was kept. */
  readonly source: "configured" | "stored" | "unserved";
  readonly hierarchicalNamespace: boolean;
  /** Undefined unless the account is stored. */
  readonly createdAt: Ticks | undefined;
}

/** Creates, changes, lists and deletes stored accounts. Configured accounts are only listed. */
export class AccountManager {
  readonly #parts: AccountChangeParts;
  readonly #served: ChangeableAccounts;

  constructor(parts: AccountChangeParts, served: ChangeableAccounts) {
    this.#parts = parts;
    this.#served = served;
  }

  create(account: NewAccount): Promise<AccountChangeResult> {
    return this.#change(account.name, () => createAccount(this.#parts, account));
  }

  delete(name: string, options: { readonly force: boolean }): Promise<AccountChangeResult> {
    return this.#change(name, () => deleteAccount(this.#parts, name, options));
  }

  rotateKey(rotation: KeyRotation): Promise<AccountChangeResult> {
    return this.#change(rotation.name, () => rotateKey(this.#parts, rotation));
  }

  changeSettings(
    name: string,
    changes: Readonly<Record<string, unknown>>,
  ): Promise<AccountChangeResult> {
    return this.#change(name, () => changeSettings(this.#parts, name, changes));
  }

  list(): Promise<readonly ListedAccount[]> {
    return this.#parts.store.snapshot(async (view) => {
      const found: ListedAccount[] = [];
      for await (const entries of view.range(accounts.range([]))) {
        for (const { key, value } of entries) {
          const name = String(accounts.parts(key)[0]);
          const { hierarchicalNamespace = false, stored } = accounts.codec.decode(value);
          const other = stored === undefined ? "unserved" : "stored";
          const source = this.#served.isConfigured(name) ? "configured" : other;
          found.push({ name, source, hierarchicalNamespace, createdAt: stored?.createdAt });
        }
      }
      return found;
    });
  }

  async #change(
    name: string,
    change: () => Promise<AccountChangeResult>,
  ): Promise<AccountChangeResult> {
    if (this.#served.isConfigured(name)) {
      const message = `account "${name}" is configured: change the configuration of the server`;
      return { ok: false, code: "AccountIsConfigured", message };
    }
    const result = await change();
    if (!result.ok) return result;
    this.#served.apply(result.change);
    await this.#served.refresh();
    return result;
  }
}
