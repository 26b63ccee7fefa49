import { join } from "node:path";
import { manualClock } from "../store/manual-clock.ts";
import { openLmdbStore } from "../store/lmdb/open-lmdb-store.ts";
import { openProcesses } from "../store/processes.ts";
import { silentLog } from "../store/silent-log.ts";
import { openDiskFiles } from "./disk-files.ts";
import type { ContentOptions } from "./open-content.ts";
import { sharedHorizons } from "./pins.ts";
import { openContentFixture, type ContentFixture } from "./testing.ts";

/** A content store on disk that several processes may open, for tests. */
export async function openSharedFixture(
  location: string,
  options: Partial<ContentOptions>,
): Promise<ContentFixture> {
  const clock = manualClock();
  const log = silentLog;
  const store = await openLmdbStore({ location: join(location, "store"), clock, log });
  const ephemeral = join(location, "ephemeral");
  const shared = await openLmdbStore({ location: ephemeral, clock, log, ephemeral: true });
  const horizons = sharedHorizons(await openProcesses({ store: shared }));
  const files = await openDiskFiles(join(location, "extents"));
  return openContentFixture({ ...options, store, files, horizons });
}
