import { ticksPerSecond, truncateToSecond, type Ticks } from "../../base/ticks.ts";
import type { Runtime } from "../../operation/execute.ts";
import { Records } from "../../operation/records.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../../file/records.ts";
import { ticksOfFileTime } from "../file-time.ts";
import { Status, type NtStatus } from "../status.ts";
import type { TreeConnect } from "../tree.ts";
import { ContextName } from "../wire/create-contexts.ts";
import type { CreateRequest } from "../wire/create.ts";
import type { ParsedPath } from "./path.ts";

/** More snapshots than this no share has. */
const snapshotsMax = 200;

/** The epoch of the snapshot that a client looks through; nothing for the present. */
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
  const found = await findSnapshot(runtime, tree.shareId, at);
  return found?.epoch ?? { status: Status.objectNameNotFound };
}

/** Clients name whole seconds, so the first snapshot of that second is meant. */
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
  { store, content }: Runtime,
  share: bigint,
): Promise<readonly ShareSnapshotRecord[]> {
  return store.snapshot(async (view) => {
    const records = new Records(view, content);
    const found: ShareSnapshotRecord[] = [];
    const bounds = { ...shareSnapshots.range([share]), limit: snapshotsMax };
    for await (const batch of records.scan(shareSnapshots, bounds)) {
      for (const { record } of batch) found.push(record);
    }
    return found;
  });
}
