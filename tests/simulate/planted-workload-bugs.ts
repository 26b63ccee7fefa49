import { blobCopy } from "../../src/blob/copy/transfer.ts";
import { abortCopyBlob } from "../../src/blob/copy/copy-blob.ts";
import {
  blobs,
  containers,
  type BlobRecord,
  type ContainerRecord,
} from "../../src/blob/records.ts";
import { containerTags } from "../../src/blob/indexes.ts";
import { lockOperation } from "../../src/file/filesystem/lock.ts";
import { renameOperation } from "../../src/file/filesystem/rename.ts";
import { withoutSignature } from "../../src/operation/source.ts";
import type { TransferEnd, TransferJob } from "../../src/operation/transfer-handler.ts";
import type { RecordView } from "../../src/operation/view.ts";
import { ChangeDispatcher } from "../../src/smb/files/change-dispatcher.ts";
import type { EngineBatch, EngineWrite } from "../../src/store/engine.ts";
import { StoreFile } from "./engine-file.ts";
import { replace, sometimes, wrapMethod, type PlantedBug } from "./plant.ts";

/** A decision of an operation of SMB clients, as far as bugs change it. */
interface SmbDecision {
  readonly fault?: string;
  readonly effects?: readonly unknown[];
}
type SmbDecide = (context: { readonly request: LockedRanges }) => SmbDecision;
interface LockedRanges {
  readonly ranges: readonly unknown[];
}

/** A batch that is refused keeps its first lock, if that alone is granted. */
function locksPartOfBatch(): () => void {
  const { decide } = lockOperation as unknown as { readonly decide: SmbDecide };
  const changed: SmbDecide = (context) => {
    const decision = decide(context);
    const { request } = context;
    if (decision.fault === undefined || request.ranges.length < 2) return decision;
    const first = decide({
      ...context,
      request: { ...request, ranges: request.ranges.slice(0, 1) },
    });
    return { ...decision, effects: first.effects ?? [] };
  };
  return replace(lockOperation, { decide: changed });
}

function forgetsRenames(): () => void {
  const isDue = sometimes(2);
  const { decide } = renameOperation as unknown as { readonly decide: SmbDecide };
  const changed: SmbDecide = (context) => {
    const decision = decide(context);
    return decision.fault === undefined && isDue() ? { ...decision, effects: [] } : decision;
  };
  return replace(renameOperation, { decide: changed });
}

function skipsChangeNotices(): () => void {
  const isDue = sometimes(2);
  return wrapMethod(
    ChangeDispatcher.prototype,
    "publish",
    (original) =>
      function publish(this: unknown, ...given: never[]) {
        if (!isDue()) original.apply(this, given);
      },
  );
}

/** Some tags that were replaced or removed stay in the index. */
function keepsTagEntries(): () => void {
  const isDue = sometimes(3);
  const tag = containerTags.prefix([])[0];
  const isKept = ({ key, value }: EngineWrite): boolean =>
    key[0] !== tag || value !== undefined || !isDue();
  return wrapMethod(
    StoreFile.prototype,
    "apply",
    (original) =>
      function apply(this: unknown, batch: EngineBatch) {
        const writes = batch.writes.filter(isKept);
        original.call(this, { ...batch, writes } as never);
      },
  );
}

/** Some reads of a container use the policies that it had at the read before. */
function cachesPolicies(): () => void {
  const isDue = sometimes(5);
  const known = new Map<bigint, ContainerRecord["policies"]>();
  return wrapMethod(
    containers.codec,
    "decode",
    (original) =>
      function decode(this: unknown, ...given: never[]) {
        const record = original.apply(this, given) as ContainerRecord;
        const policies = known.get(record.id) ?? record.policies;
        known.set(record.id, record.policies);
        return isDue() ? { ...record, policies } : record;
      },
  );
}

/** An aborted copy goes on: the abort is acknowledged, and nothing is stored. */
function ignoresAborts(): () => void {
  return changeAborts(() => ({}));
}

/** The bytes of an aborted copy replace what has replaced its target. */
function endsAbortedCopies(): () => void {
  const { finish } = blobCopy;
  const changed = (view: RecordView, job: TransferJob, end: TransferEnd) => {
    const copy = { id: job.id, source: withoutSignature(job.url), status: "pending" as const };
    const pending = { ...copy, copiedBytes: 0, totalBytes: job.length ?? 0 };
    const get = async (table: unknown, key: unknown): Promise<unknown> => {
      const record = await view.get(table as typeof blobs, key as never);
      if (table !== blobs || record === undefined) return record;
      return { ...record, copy: pending } satisfies BlobRecord;
    };
    const replaced = new Proxy(view, {
      get(target, name) {
        if (name === "get") return get;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return finish(replaced, job, end);
  };
  const unplantAbort = changeAborts((decision) => ({ ...decision, effects: [] }));
  const unplantFinish = replace(blobCopy, { finish: changed });
  return () => {
    unplantFinish();
    unplantAbort();
  };
}

/** The job of some copies is removed, and their targets stay pending. */
function dropsCopyJobs(): () => void {
  const isDue = sometimes(5);
  const { finish } = blobCopy;
  const changed = (view: RecordView, job: TransferJob, end: TransferEnd) =>
    isDue() ? Promise.resolve(undefined) : finish(view, job, end);
  return replace(blobCopy, { finish: changed });
}

interface AbortDecision {
  readonly put?: unknown;
  readonly effects?: readonly unknown[];
}

function changeAborts(change: (decision: AbortDecision) => object): () => void {
  const { decide } = abortCopyBlob as unknown as { readonly decide: (context: never) => object };
  const changed = (context: never): object => {
    const decision = decide(context);
    return "put" in decision ? change(decision) : decision;
  };
  return replace(abortCopyBlob, { decide: changed });
}

/** Bugs of what single workloads use. */
export const plantedWorkloadBugs: readonly PlantedBug[] = [
  {
    bug: "a refused batch of locks keeps its first lock",
    // Conflicts of two batches are rare while other workloads run.
    plan: { workloads: ["smb lock batches"], clientsEach: 5 },
    plant: locksPartOfBatch,
  },
  {
    bug: "a rename over SMB is acknowledged, but not done",
    // Most renames are refused, because the directory or its target is absent or in use.
    plan: { workloads: ["smb directories"] },
    plant: forgetsRenames,
  },
  { bug: "an SMB client is not notified of changes of a directory", plant: skipsChangeNotices },
  { bug: "entries of removed tags stay", site: "folder", plant: keepsTagEntries },
  { bug: "revoked access policies are read from a cache", plant: cachesPolicies },
  { bug: "the bytes of an aborted copy replace a later blob", plant: endsAbortedCopies },
  { bug: "an aborted copy goes on", plant: ignoresAborts },
  { bug: "an accepted copy does not end", plant: dropsCopyJobs },
];
