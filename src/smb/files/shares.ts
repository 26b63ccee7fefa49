import { snapshotsOf } from "../../file/share/share-lifecycle.ts";
import { ticksPerSecond, truncateToSecond, type Ticks } from "../../base/ticks.ts";
import { runOnce, type Attempt, type Runtime } from "../../operation/work.ts";
import { shares, type ShareRecord, type ShareSnapshotRecord } from "../../file/records.ts";
import { ticksOfFileTime } from "../wire/header.ts";
import { Status, type NtStatus } from "../status.ts";
import type { TreeConnect } from "../session.ts";
import { contextData, ContextName, type CreateRequest } from "../wire/create.ts";
import type { ParsedPath } from "./file-handle.ts";
import { accounts } from "../../account/account-record.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";

/** Shares and share snapshots: how SMB requests find and list them. */

/** The number (epoch) of the share snapshot that a CREATE names, with which its files are read
 *  (`file/share-tree.ts`). Undefined if it names none and means the current files. */
export async function epochOf(
  runtime: Runtime,
  tree: TreeConnect,
  create: CreateRequest,
  path: ParsedPath,
): Promise<number | undefined | { readonly status: NtStatus }> {
  const warp = contextData(create, ContextName.timewarp);
  if (warp !== undefined && warp.length !== 8) return { status: Status.invalidParameter };
  const at = warp === undefined ? path.snapshot : ticksOfFileTime(warp.readBigUInt64LE());
  if (at === undefined) return undefined;
  const matching = await findSnapshot(runtime, tree.share.id, at);
  return matching?.epoch ?? { status: Status.objectNameNotFound };
}

/** The share snapshot of this time, or of its second: clients may send whole seconds. */
async function findSnapshot(
  runtime: Runtime,
  share: bigint,
  at: Ticks,
): Promise<ShareSnapshotRecord | undefined> {
  const second = truncateToSecond(at);
  const all = await listSnapshots(runtime, share);
  return (
    all.find((snapshot) => snapshot.at === at) ??
    all.find((snapshot) => snapshot.at >= second && snapshot.at < second + ticksPerSecond)
  );
}

export function listSnapshots(
  runtime: Runtime,
  share: bigint,
): Promise<readonly ShareSnapshotRecord[]> {
  return runOnce(runtime, {
    effect: "reads",
    attempt: ({ records }) => snapshotsOf(records, share),
  });
}

/** Most shares of an account that a listing reads, NFS shares included, which it omits. Clients can
 *  connect to further shares, but do not see them listed. */
const sharesMax = 10_000;

/** The share of a tree connect; undefined if it does not exist or is an NFS share, which SMB does
 *  not serve. */
export function findShare(
  runtime: Runtime,
  accountName: string,
  name: string,
): Promise<ShareAddress | undefined> {
  const find = async ({ records }: Attempt): Promise<ShareAddress | undefined> => {
    const account = await records.get(accounts, accountName);
    const share = account && (await records.get(shares, { account: account.id, name }));
    if (account === undefined || share === undefined || isNfs(share)) return undefined;
    return { accountName, account: account.id, name, id: share.id };
  };
  return runOnce(runtime, { effect: "reads", attempt: find });
}

/** The names of the shares of an account, without NFS shares, for clients that list them through
 *  the pipe srvsvc (`smb/pipe/rpc.ts`). */
export function listShares(runtime: Runtime, accountName: string): Promise<readonly string[]> {
  const list = async ({ records }: Attempt): Promise<readonly string[]> => {
    const account = await records.get(accounts, accountName);
    const found: string[] = [];
    if (account === undefined) return found;
    const bounds = { ...shares.range([account.id]), limit: sharesMax };
    for await (const entries of records.scan(shares, bounds)) {
      for (const { key, record } of entries) {
        if (!isNfs(record)) found.push(String(shares.parts(key)[1]));
      }
    }
    return found;
  };
  return runOnce(runtime, { effect: "reads", attempt: list });
}

function isNfs({ settings }: ShareRecord): boolean {
  return settings.protocol === "NFS";
}
