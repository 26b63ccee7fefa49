import { accounts } from "../../account/account-record.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";
import { shares } from "../../file/records.ts";

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
