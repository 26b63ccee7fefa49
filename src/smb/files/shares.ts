import { accounts } from "../../account/account-record.ts";
import type { Runtime } from "../../operation/work.ts";
import { Records } from "../../operation/records.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";
import { shares } from "../../file/records.ts";

interface NamedShare {
  readonly name: string;
  readonly id: bigint;
}

/** A share enumeration stops after this many shares of the account, NFS shares included. Clients
 *  can still connect to the others. */
const sharesMax = 10_000;

/** The share of a tree connect; undefined if it does not exist or is an NFS share, which SMB does
 *  not serve. */
export function findShare(
  { store, content }: Runtime,
  account: string,
  name: string,
): Promise<ShareAddress | undefined> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const accountRecord = await records.get(accounts, account);
    const share = accountRecord && (await records.get(shares, { account: accountRecord.id, name }));
    const isServed = share !== undefined && share.settings.protocol !== "NFS";
    return accountRecord && isServed
      ? { accountName: account, account: accountRecord.id, name, id: share.id }
      : undefined;
  });
}

/** The shares of an account for the srvsvc enumeration, without NFS shares. */
export function listShares(
  { store, content }: Runtime,
  account: string,
): Promise<readonly NamedShare[]> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const accountRecord = await records.get(accounts, account);
    if (accountRecord === undefined) return [];
    const found: NamedShare[] = [];
    const bounds = { ...shares.range([accountRecord.id]), limit: sharesMax };
    for await (const entries of records.scan(shares, bounds)) {
      for (const { key, record } of entries) {
        if (record.settings.protocol === "NFS") continue;
        found.push({ name: String(shares.parts(key)[1]), id: record.id });
      }
    }
    return found;
  });
}
