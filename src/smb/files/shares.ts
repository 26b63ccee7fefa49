import { shareSnapshotsMax } from "../../file/share/share-lifecycle.ts";
import { ticksPerSecond, truncateToSecond, type Ticks } from "../../base/ticks.ts";
import type { Runtime } from "../../operation/work.ts";
import { Records } from "../../operation/records.ts";
import { shareSnapshots, shares, type ShareSnapshotRecord } from "../../file/records.ts";
import { ticksOfFileTime } from "../wire/file-facts.ts";
import { Status, type NtStatus } from "../status.ts";
import type { TreeConnect } from "../session.ts";
import { ContextName, type CreateRequest } from "../wire/create.ts";
import type { ParsedPath } from "./lookup.ts";
import { accounts } from "../../account/account-record.ts";
import type { ShareAddress } from "../../file/filesystem/file-reference.ts";

/** The epoch of the share snapshot that a CREATE names; undefined if it names none and means the
 *  current files. */
export async function epochOf(
  runtime: Runtime,
  tree: TreeConnect,
  { contexts }: CreateRequest,
  path: ParsedPath,
): Promise<number | undefined | { readonly status: NtStatus }> {
  const warp = contexts.find(({ name }) => name === ContextName.timewarp)?.data;
  if (warp !== undefined && warp.length !== 8) return { status: Status.invalidParameter };
  const at = warp === undefined ? path.snapshot : ticksOfFileTime(warp.readBigUInt64LE());
  if (at === undefined) return undefined;
  const matching = await findSnapshot(runtime, tree.shareId, at);
  return matching?.epoch ?? { status: Status.objectNameNotFound };
}

/** The snapshot with this time, or the first one within its second: clients may send whole
 *  seconds. */
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

/** The snapshots of a share, oldest first. */
export function listSnapshots(
  { store, content }: Runtime,
  share: bigint,
): Promise<readonly ShareSnapshotRecord[]> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const matching: ShareSnapshotRecord[] = [];
    const bounds = { ...shareSnapshots.range([share]), limit: shareSnapshotsMax };
    for await (const batch of records.scan(shareSnapshots, bounds)) {
      for (const { record } of batch) matching.push(record);
    }
    return matching;
  });
}

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
