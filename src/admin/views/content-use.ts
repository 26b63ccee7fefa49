import { listExtents } from "../../content/extent-table.ts";
import type { Store } from "../../store/store.ts";

export interface ContentUse {
  readonly liveBytes: number;
  readonly reclaimableBytes: number;
}

const extentsPerSnapshot = 1000;
/** Enough for some hundred terabytes. */
const snapshotsMax = 1000;

/** Referenced bytes of all extents. Bytes with several references count once for each, so the
 *  reclaimable space is at least what this says. */
export function contentUse(store: Store): Promise<ContentUse> {
  return store.snapshot(async (view) => {
    let liveBytes = 0;
    let reclaimableBytes = 0;
    let after = 0n;
    for (let look = 0; look < snapshotsMax; look += 1) {
      const states = await listExtents(view, after, extentsPerSnapshot);
      for (const { extent, record, liveBytes: live } of states) {
        liveBytes += Number(live);
        const unused = (record.sealedBytes ?? 0) - Number(live);
        if (unused > 0) reclaimableBytes += unused;
        after = extent;
      }
      if (states.length < extentsPerSnapshot) break;
    }
    return { liveBytes, reclaimableBytes };
  });
}
