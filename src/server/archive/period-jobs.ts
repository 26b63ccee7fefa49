import { ticksMax, ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { uploadEnds } from "../../blob/block/read-blocks.ts";
import * as blob from "../../blob/records.ts";
import { retentionEnds } from "../../blob/shared/soft-delete.ts";
import type { KeyPart } from "../../encoding/keys.ts";
import { deletedShares, type DeletedShareRecord } from "../../file/records.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import { sweepAfter } from "../../queue/message/message-effects.ts";
import { expiries } from "../../queue/records.ts";

type JobOf = (parts: readonly KeyPart[], record: never) => ReclaimJob | undefined;

const softDeleted = (kind: string): JobOf => {
  return ([account, name, version], record: DeletedShareRecord | blob.DeletedContainerRecord) => {
    const due = record.deletedAt + BigInt(record.retentionDays) * ticksPerDay;
    return { kind, scope: [account as bigint, name as string, version as Ticks], due };
  };
};

const generationKinds = ["version", "snapshot", "deleted"] as const;

/** The job that removes a record at the end of its period, by table. Operations store it with the
 *  record; it is no part of an archive, because the key of a job does not begin with an owner. */
const jobs: ReadonlyMap<string, JobOf> = new Map<string, JobOf>([
  [blob.deletedContainers.name, softDeleted("blob-deleted-container")],
  [deletedShares.name, softDeleted("file-deleted-share")],
  [
    blob.blobs.name,
    ([container, name], { expiresAt: due }: blob.BlobRecord) =>
      due === undefined
        ? undefined
        : { kind: "blob-expiry", scope: [container as bigint, name as string], due },
  ],
  [
    blob.generations.name,
    ([container, name, at, kind], { deleted }: blob.BlobRecord) => {
      if (deleted === undefined) return undefined;
      const kindName = generationKinds[Number(kind)] ?? "";
      const scope = [container as bigint, name as string, at as bigint, kindName];
      return { kind: "blob-generation", scope, due: retentionEnds(deleted) };
    },
  ],
  [
    blob.uploads.name,
    ([container, name], upload: blob.UploadRecord) => {
      const scope = [container as bigint, name as string, upload.id];
      return { kind: "blob-upload", scope, due: uploadEnds(upload) };
    },
  ],
  [
    expiries.name,
    ([queue, expires]) => {
      const due = sweepAfter(expires as Ticks);
      return { kind: "queue-expired", scope: [queue as bigint], due };
    },
  ],
]);

/** Undefined if the record has no period. */
export function periodJobOf(
  table: string,
  parts: readonly KeyPart[],
  record: object,
): ReclaimJob | undefined {
  const job = jobs.get(table)?.(parts, record as never);
  return job?.due === undefined || job.due >= ticksMax ? undefined : job;
}
