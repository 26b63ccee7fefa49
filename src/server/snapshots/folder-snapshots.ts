import type { Log } from "../../base/world.ts";
import { isMissing, openDataLocation } from "../data-copy/data-locations.ts";
import { realEnvironment } from "../server-environment.ts";
import { StartRefused } from "../start-refused.ts";
import { ServerSnapshots } from "./server-snapshots.ts";

export interface FolderSnapshots {
  readonly snapshots: ServerSnapshots;
  close(): Promise<void>;
}

/** Opens the snapshots of a data folder that no server has to use. The next server adds the records
 *  of accounts that a restored snapshot lacks. */
export async function snapshotsOfFolder(location: string, log: Log): Promise<FolderSnapshots> {
  const folder = { records: location, bytes: undefined };
  if (isMissing(folder)) {
    throw new StartRefused([`${location}: not a data folder, and no server uses it`]);
  }
  const world = realEnvironment(log);
  const data = await openDataLocation(folder, world);
  const onRestored = () => Promise.resolve();
  const snapshots = new ServerSnapshots({ ...world, store: data.store, onRestored });
  return { snapshots, close: () => data.close() };
}
