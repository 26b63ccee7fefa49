import { accounts } from "../../account/account-record.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";
import { shares } from "../../file/records.ts";

export async function findShare(
  view: RecordView,
  account: string,
  name: string,
): Promise<ShareAddress | undefined> {
  const owner = await view.get(accounts, account);
  const share = owner && (await view.get(shares, { account: owner.id, name }));
  return owner && share && { account: owner.id, name, id: share.id };
}
