import { accounts } from "../../account/account-record.ts";
import { containerNames } from "../../blob/indexes.ts";
import type { Table } from "../../encoding/table.ts";
import type { RecordView } from "../../operation/view.ts";
import { shareNames, shares } from "../../file/records.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";

/** The account and name of a container or share. Records refer to these by ids; the views of
 *  leases, open files and messages resolve the ids here. */
interface Owner {
  readonly account: string;
  readonly name: string;
}

const accountsMax = 10_000;

/** Resolves ids of containers and shares to names, reading each once. Deleted ones have no name. */
export class Names {
  readonly #view: RecordView;
  readonly #owners = new Map<string, Owner | undefined>();
  #accounts: Promise<ReadonlyMap<bigint, string>> | undefined;

  constructor(view: RecordView) {
    this.#view = view;
  }

  async account(id: bigint): Promise<string | undefined> {
    return (await this.accounts()).get(id);
  }

  accounts(): Promise<ReadonlyMap<bigint, string>> {
    this.#accounts ??= accountNames(this.#view);
    return this.#accounts;
  }

  container(id: bigint): Promise<Owner | undefined> {
    return this.#owner(containerNames, id);
  }

  share(id: bigint): Promise<Owner | undefined> {
    return this.#owner(shareNames, id);
  }

  async #owner(table: NameTable, id: bigint): Promise<Owner | undefined> {
    const known = `${table.tag}/${id}`;
    if (!this.#owners.has(known)) this.#owners.set(known, await this.#find(table, id));
    return this.#owners.get(known);
  }

  async #find(table: NameTable, id: bigint): Promise<Owner | undefined> {
    for await (const [first] of this.#view.scan(table, { ...table.range([id]), limit: 1 })) {
      if (first === undefined) continue;
      const account = await this.account(first.record.account);
      return account === undefined ? undefined : { account, name: first.record.name };
    }
    return undefined;
  }
}

type NameTable = Table<never, { readonly account: bigint; readonly name: string }>;

async function accountNames(view: RecordView): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  const bounds = { ...accounts.range([]), limit: accountsMax };
  for await (const batch of view.scan(accounts, bounds)) {
    for (const { key, record } of batch) names.set(record.id, accounts.parts(key)[0] as string);
  }
  return names;
}

/** The share of an account by name; undefined if it does not exist. Includes NFS shares. */
export async function findShare(
  view: RecordView,
  account: string,
  name: string,
): Promise<ShareAddress | undefined> {
  const accountRecord = await view.get(accounts, account);
  const share = accountRecord && (await view.get(shares, { account: accountRecord.id, name }));
  if (accountRecord === undefined || share === undefined) return undefined;
  return { accountName: account, account: accountRecord.id, name, id: share.id };
}
