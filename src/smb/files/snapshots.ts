import { shareSnapshotsMax } from "../../file/share/snapshots.ts";
import { ticksPerSecond, truncateToSecond, type Ticks } from "../../base/ticks.ts";
import type { Runtime } from "../../operation/work.ts";
import { Records } from "../../operation/records.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../../file/records.ts";
import { ticksOfFileTime } from "../wire/file-facts.ts";
import { Status, type NtStatus } from "../status.ts";
import type { TreeConnect } from "../session.ts";
import { ContextName, type CreateRequest } from "../wire/create.ts";
import type { ParsedPath } from "./path.ts";

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
