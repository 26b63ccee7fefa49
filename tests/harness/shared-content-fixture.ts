import { join } from "node:path";
import { manualClock } from "./manual-clock.ts";
import { openLmdbStore } from "../../src/store/lmdb/open-lmdb-store.ts";
import { openProcesses } from "../../src/store/processes.ts";
import { silentLog } from "./silent-log.ts";
import { openDiskFiles } from "../../src/content/extents/disk-files.ts";
import type { ContentOptions } from "../../src/content/open-content.ts";
import { sharedHorizons } from "../../src/content/reclaim/pins.ts";
import { openContentFixture, type ContentFixture } from "./content-fixture.ts";

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
