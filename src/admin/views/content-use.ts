import { listExtents } from "../../content/extent-table.ts";
import type { Store } from "../../store/store.ts";

export interface ContentUse {
  readonly liveBytes: number;
  readonly reclaimableBytes: number;
}

const extentsPerPage = 1000;
/** Enough pages for some hundred terabytes. */
const pagesMax = 1000;

/** Totals over all extents. `liveBytes` counts a byte once per reference, so it may be too high,
 *  and `reclaimableBytes` (sealed minus live) too low. */
export function contentUse(store: Store): Promise<ContentUse> {
  return store.snapshot(async (view) => {
    let liveBytes = 0;
    let reclaimableBytes = 0;
    let after = 0n;
    for (let page = 0; page < pagesMax; page += 1) {
      const states = await listExtents(view, after, extentsPerPage);
      for (const { extent, record, liveBytes: live } of states) {
        liveBytes += Number(live);
        const unused = (record.sealedBytes ?? 0) - Number(live);
        if (unused > 0) reclaimableBytes += unused;
        after = extent;
      }
      if (states.length < extentsPerPage) break;
    }
    return { liveBytes, reclaimableBytes };
  });
}
