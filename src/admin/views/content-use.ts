import { listExtents } from "../../content/extent-table.ts";
import type { Store } from "../../store/store.ts";

export interface ContentUse {
  readonly liveBytes: number;
  readonly reclaimableBytes: number;
}

const extentsPerLook = 1000;
/** As many as hold some hundred terabytes. */
const looksMax = 1000;

/** What of the stored bytes somebody still refers to. Bytes that several refer to count for each,
 *  so that the space to be won is at least what this says. */
export function contentUse(store: Store): Promise<ContentUse> {
  return store.snapshot(async (view) => {
    let liveBytes = 0;
    let reclaimableBytes = 0;
    let after = 0n;
    for (let look = 0; look < looksMax; look += 1) {
      const states = await listExtents(view, after, extentsPerLook);
      for (const { extent, record, liveBytes: live } of states) {
        liveBytes += Number(live);
        const unused = (record.sealedBytes ?? 0) - Number(live);
        if (unused > 0) reclaimableBytes += unused;
        after = extent;
      }
      if (states.length < extentsPerLook) break;
    }
    return { liveBytes, reclaimableBytes };
  });
}
