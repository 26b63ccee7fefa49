import { createAccount } from "../../account/account-changes.ts";
import type { AccountInput } from "../../account/parse-settings.ts";
import type { AccountKeys, Accounts } from "../../account/settings.ts";
import type { Random } from "../../base/world.ts";
import { accountChangeParts } from "../../data/ensure-accounts.ts";
import type { Store } from "../../store/store.ts";
import type { Field, FieldReader } from "./parse-content.ts";

/** Creates the accounts of `--init` before its containers, queues, tables and shares. */

/** An account that `--init` creates, unless one of this name exists. */
export interface InitAccount {
  readonly name: string;
  /** Path of the field in the JSON input, for messages. */
  readonly field: string;
  /** Not validated before the account is created: `createAccount` does so. */
  readonly input: AccountInput;
}

interface AccountField {
  readonly name: string;
  readonly account: Field;
  /** The settings of an account that does not exist. */
  readonly create: Field;
}

/** Returns the account to create; undefined if it exists, or if there is a problem. An account that
 *  neither exists nor has `create` is probably misspelt. */
export function parseInitAccount(
  reader: FieldReader,
  accounts: Accounts,
  { name, account, create }: AccountField,
): InitAccount | undefined {
  const existing = accounts.get(name);
  if (create.value === undefined) {
    if (existing !== undefined) return undefined;
    const known = `there are ${accounts.names().join(", ")}`;
    const problem = `no account of this server has this name; ${known}; "create" creates one`;
    return reader.refuse(account, problem);
  }
  // `map` adds a problem if the value is no object.
  const input = Object.fromEntries(reader.map(create).map(([key, { value }]) => [key, value]));
  if (existing === undefined) return { name, field: create.path, input };
  const { hierarchicalNamespace } = input as AccountInput;
  if (
    hierarchicalNamespace !== undefined &&
    hierarchicalNamespace !== existing.hierarchicalNamespace
  ) {
    const kind = existing.hierarchicalNamespace ? "a hierarchical" : "a flat";
    reader.refuse(create, `the account exists, with ${kind} namespace`);
  }
  return undefined;
}

interface InitAccountParts {
  readonly store: Store;
  readonly random: Random;
  readonly accounts: Accounts;
}

/** Creates the accounts and rereads the served ones. Returns the problems. */
export async function createInitAccounts(
  { store, random, accounts }: InitAccountParts,
  wanted: readonly InitAccount[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { name, field, input } of wanted) {
    const { keys, ...settings } = input;
    const account = { name, keys: keys as AccountKeys | undefined, settings, adopt: false };
    const result = await createAccount(accountChangeParts(store, random), account);
    await accounts.refresh?.();
    // No problem if another process has created the account since.
    if (!result.ok && accounts.get(name) === undefined) {
      problems.push(`${field}: ${result.message}`);
    }
  }
  return problems;
}
