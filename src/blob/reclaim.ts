import { nameReclaimers } from "../account/deleted-names.ts";
import type { ReclaimJob } from "../operation/effects.ts";
import type { ReclaimHandler, Removal } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { ticksPerDay, type Ticks } from "../base/ticks.ts";
import { removalFinder } from "../operation/find-removals.ts";
import { blockCounter, uploadEnds } from "./block/read-blocks.ts";
import {
  blobs,
  blocks,
  containers,
  deletedContainers,
  generations,
  uploads,
  type BlobRecord,
  type ContainerRecord,
  type GenerationKey,
} from "./records.ts";
import { isExpired } from "./shared/expiry.ts";
import { hasBlocks } from "./shared/overwrite.ts";
import { retentionEnds } from "./shared/soft-delete.ts";

/** Most records removed in one transaction. */
const removalsMax = 500;

const findRemovals = removalFinder(removalsMax);

/** Removes the uncommitted blocks of an upload. */
const reclaimBlocks: ReclaimHandler = async (view, [upload]) => {
  const id = upload as bigint;
  const removals = await findRemovals(view, blocks, id);
  if (removals.length === removalsMax) return { removals, done: false };
  return { removals: [...removals, { key: blockCounter(id) }], done: true };
};

/** Removes everything that is keyed by the id of a container or directory, a bounded number of
 *  records per step. */
const reclaimContainer: ReclaimHandler = async (view, [container]) => {
  const id = container as bigint;
  const current = await findRemovals(view, blobs, id);
  if (current.length > 0)
    return { removals: current, jobs: directoryJobs(current, id), done: false };
  const earlier = await findRemovals(view, generations, id);
  if (earlier.length > 0)
    return { removals: earlier, jobs: directoryJobs(earlier, id), done: false };
  const staged = await findRemovals(view, uploads, id);
  const jobs = staged.map(({ record }) => ({ kind: "blob-blocks", scope: [record.id] }));
  return { removals: staged, jobs, done: staged.length < removalsMax };
};

/** Removes an upload a week after its last Put Block. If a Put Block has prolonged it meanwhile,
 *  the job is stored again with the new time. */
const expireUpload: ReclaimHandler = async (view, scope) => {
  const [container, name, id] = scope;
  const key = { container: container as bigint, name: name as string };
  const upload = await view.get(uploads, key);
  if (upload === undefined || upload.id !== id) return { done: true };
  const due = uploadEnds(upload);
  if (due > view.now) {
    return { jobs: [{ kind: "blob-upload", scope, due }], done: true };
  }
  const removals = [{ table: anyTable(uploads), key: uploads.key(key) }];
  return { removals, jobs: [{ kind: "blob-blocks", scope: [upload.id] }], done: true };
};

/** The same for uploads that are kept with their data, below one directory: the job is shared by
 *  all of them that were opened in one hour. */
const expireUploads: ReclaimHandler = async (view, [container, from]) => {
  const below = [container as bigint, from as string];
  const bounds = { ...uploads.range([container as bigint]), start: uploads.prefix(below) };
  const removals: Removal[] = [];
  const jobs: ReclaimJob[] = [];
  let seen = 0;
  let last = "";
  for await (const batch of view.scan(uploads, { ...bounds, limit: removalsMax })) {
    for (const { key, record } of batch) {
      seen += 1;
      last = uploads.parts(key)[1] as string;
      if (uploadEnds(record) > view.now) continue;
      removals.push({ table: anyTable(uploads), key });
      if (hasBlocks(record)) jobs.push({ kind: "blob-blocks", scope: [record.id] });
    }
  }
  if (seen < removalsMax) return { removals, jobs, done: true };
  const rest = { kind: "blob-uploads", scope: [container as bigint, `${last}\u0000`] };
  return { removals, jobs: [...jobs, rest], done: true };
};

/** Removes a soft-deleted container after its retention time. */
const expireContainer: ReclaimHandler = async (view, [account, name, version]) => {
  const key = {
    account: account as bigint,
    name: name as string,
    version: version as Ticks,
  };
  const record = await view.get(deletedContainers, key);
  if (record === undefined) return { done: true };
  const removals = [{ table: anyTable(deletedContainers), key: deletedContainers.key(key) }];
  return { removals, jobs: [containerJob(record)], done: true };
};

/** Removes a soft-deleted state of a blob after its retention time. */
const expireGeneration: ReclaimHandler = async (view, scope) => {
  const [container, name, at, kind] = scope;
  const key: GenerationKey = {
    container: container as bigint,
    name: name as string,
    at: at as Ticks,
    kind: kind as GenerationKey["kind"],
  };
  const record = await view.get(generations, key);
  if (record?.deleted === undefined) return { done: true };
  const due = retentionEnds(record.deleted);
  if (due > view.now) return { jobs: [{ kind: "blob-generation", scope, due }], done: true };
  const removals = [{ table: anyTable(generations), key: generations.key(key) }];
  return { removals, jobs: directoryJobs([{ record }]), done: true };
};

/** Removes a blob whose expiry time has passed. */
const expireBlob: ReclaimHandler = async (view, scope) => {
  const [container, name] = scope;
  const key = { container: container as bigint, name: name as string };
  const record = await view.get(blobs, key);
  if (record?.expiresAt === undefined || record.expiresAt > view.now) return { done: true };
  if (!isExpired(record, view.now)) {
    // A legal hold or immutability policy keeps the blob for now. A hold has no end time, so the
    // job tries again in a day.
    return { jobs: [{ kind: "blob-expiry", scope, due: view.now + ticksPerDay }], done: true };
  }
  return { removals: [{ table: anyTable(blobs), key: blobs.key(key) }], done: true };
};

/** Jobs that remove what is below the removed directories. The root directory has the id of its
 *  container, whose records the job itself removes. */
function directoryJobs(
  removed: readonly { readonly record: BlobRecord }[],
  parent?: bigint,
): readonly ReclaimJob[] {
  return removed.flatMap(({ record: { directory } }) =>
    directory === undefined || directory === parent
      ? []
      : [{ kind: "blob-directory", scope: [directory] }],
  );
}

/** Removes all containers of an account id, after a reset. */
const reclaimAccount: ReclaimHandler = async (view, [account]) => {
  const id = account as bigint;
  const live = await findRemovals(view, containers, id);
  const deleted = await findRemovals(view, deletedContainers, id);
  const removals = [...live, ...deleted];
  const jobs = removals.map(({ record }) => containerJob(record));
  return { removals, jobs, done: removals.length === 0 };
};

function containerJob({ id }: ContainerRecord): ReclaimJob {
  return { kind: "blob-container", scope: [id] };
}

export const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  ...nameReclaimers("blob"),
  "blob-account": reclaimAccount,
  "blob-blocks": reclaimBlocks,
  "blob-container": reclaimContainer,
  "blob-directory": reclaimContainer,
  "blob-expiry": expireBlob,
  "blob-generation": expireGeneration,
  "blob-deleted-container": expireContainer,
  "blob-upload": expireUpload,
  "blob-uploads": expireUploads,
};
