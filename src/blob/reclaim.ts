import { anyTable } from "../encoding/table.ts";
import { ownerJob, type ReclaimJob } from "../operation/effects.ts";
import { removeExpired } from "../operation/owned-records.ts";
import type { ReclaimHandler, Removal } from "../operation/service.ts";
import { serverEvents } from "./events.ts";
import { blobs, uploadEnds, uploads } from "./records.ts";
import { hasBlocks } from "./shared/overwrite.ts";
import { afterRehydration, archive } from "./tier/rehydration.ts";

/** Records that one step of a reclaim job reads, so that its transaction stays short. */
const scannedMax = 500;

/** Removes the uploads with appended data of one directory whose period has ended: all that were
 *  opened in one hour share a job. */
export const expireUploads: ReclaimHandler = async (view, [container, from]) => {
  const below = [container as bigint, from as string];
  const bounds = { ...uploads.range([container as bigint]), start: uploads.prefix(below) };
  const removals: Removal[] = [];
  const jobs: ReclaimJob[] = [];
  let scanned = 0;
  let last = "";
  for await (const batch of view.scan(uploads, { ...bounds, limit: scannedMax })) {
    for (const { key, record } of batch) {
      scanned += 1;
      last = uploads.parts(key)[1] as string;
      if (uploadEnds(record) > view.now) continue;
      removals.push({ table: anyTable(uploads), key });
      if (hasBlocks(record)) jobs.push(ownerJob("upload", record.id));
    }
  }
  if (scanned < scannedMax) return { removals, jobs, done: true };
  const rest = { kind: "blob-uploads", scope: [container as bigint, `${last}\u0000`] };
  return { removals, jobs: [...jobs, rest], done: true };
};

const removeExpiredBlob = removeExpired(anyTable(blobs));

/** Removes a blob that has expired, which is an event as its deletion would be. */
export const expireBlob: ReclaimHandler = async (view, scope) => {
  const removed = await removeExpiredBlob(view, scope);
  if (removed.removals === undefined) return removed;
  const [container, name] = scope;
  const key = { container: container as bigint, name: name as string };
  const before = await view.get(blobs, key);
  const appends = await serverEvents(view, key, { api: "DeleteBlob", before, after: undefined });
  return { ...removed, appends };
};

/** The end of a rehydration is an event. The blob may have been written since: then its record has
 *  the time of the end. */
export const endRehydration: ReclaimHandler = async (view, [container, name, due]) => {
  const key = { container: container as bigint, name: name as string };
  const record = await view.get(blobs, key);
  const after = afterRehydration(record, view.now);
  if (after === undefined || after.tierChanged !== due) return { done: true };
  const change = { api: "SetBlobTier", before: { ...after, tier: archive }, after } as const;
  return { appends: await serverEvents(view, key, change), done: true };
};
