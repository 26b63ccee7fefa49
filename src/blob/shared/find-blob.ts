import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, generations } from "../records.ts";
import type { BlobKey, BlobRecord, GenerationKey } from "../records.ts";
import type { BlobAddress } from "../resources.ts";
import { isExpired } from "./expiry.ts";
import { isRestorable } from "./soft-delete.ts";

/** Finds the current blob, or the snapshot or version that the address names; undefined if it does
 *  not exist, has expired or is soft-deleted. */
export function findBlob(
  view: RecordView,
  key: BlobKey,
  { snapshot, versionId }: Pick<BlobAddress, "snapshot" | "versionId">,
): Awaitable<BlobRecord | undefined> {
  if (snapshot !== undefined)
    return findGeneration(view, { ...key, at: snapshot, kind: "snapshot" });
  return mapAwaitable(view.get(blobs, key), (stored) => {
    const current = stored === undefined || isExpired(stored, view.now) ? undefined : stored;
    if (versionId === undefined || current?.versionId === versionId) return current;
    return findGeneration(view, { ...key, at: versionId, kind: "version" });
  });
}

function findGeneration(view: RecordView, key: GenerationKey): Awaitable<BlobRecord | undefined> {
  return mapAwaitable(view.get(generations, key), (found) =>
    found?.deleted === undefined ? found : undefined,
  );
}

/** Whether Undelete Blob would restore the snapshot or version that the address names. */
export function isSoftDeleted(
  view: RecordView,
  { container, name }: BlobKey,
  { snapshot }: BlobAddress,
  at: Ticks,
): Awaitable<boolean> {
  const kind = snapshot === undefined ? "version" : "snapshot";
  return mapAwaitable(
    view.get(generations, { container, name, at, kind }),
    (found) => found !== undefined && isRestorable(found, view.now),
  );
}
