import { accounts } from "../../account/account-record.ts";
import type { Runtime } from "../../operation/execute.ts";
import { Records } from "../../operation/records.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";
import { shares } from "../../file/records.ts";

export interface NamedShare {
  readonly name: string;
  readonly id: bigint;
}

/** Upper bound of a share enumeration. */
const sharesMax = 10_000;

export function findShare(
  { store, content }: Runtime,
  account: string,
  name: string,
): Promise<ShareAddress | undefined> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const owner = await records.get(accounts, account);
    const share = owner && (await records.get(shares, { account: owner.id, name }));
    const isServed = share !== undefined && share.settings.protocol !== "NFS";
    return owner && isServed ? { account: owner.id, name, id: share.id } : undefined;
  });
}

export function listShares(
  { store, content }: Runtime,
  account: string,
): Promise<readonly NamedShare[]> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const owner = await records.get(accounts, account);
    if (owner === undefined) return [];
    const found: NamedShare[] = [];
    const bounds = { ...shares.range([owner.id]), limit: sharesMax };
    for await (const entries of records.scan(shares, bounds)) {
      for (const { key, record } of entries) {
        if (record.settings.protocol === "NFS") continue;
        found.push({ name: String(shares.parts(key)[1]), id: record.id });
      }
    }
    return found;
  });
}
