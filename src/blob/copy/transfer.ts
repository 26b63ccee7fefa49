import { empty, whole } from "../../content/content-ref.ts";
import { put } from "../../operation/effects.ts";
import { nextETag } from "../../protocol/conditions.ts";
import type { TransferHandler, TransferJob } from "../../operation/transfer-handler.ts";
import type { RecordView } from "../../operation/view.ts";
import { serverEvents } from "../events.ts";
import { isPageBlobLength } from "../page/put-page.ts";
import { blobs, type BlobKey, type BlobRecord } from "../records.ts";

/** Ends asynchronous copies (Copy Blob): `operation/transfer.ts` calls the handler when bytes of
 *  the source have arrived, or when fetching them has failed. */

/** The target of a background copy, and the state of that copy. */
interface PendingCopy {
  readonly key: BlobKey;
  readonly record: BlobRecord;
  readonly copy: NonNullable<BlobRecord["copy"]>;
}

/** Finds the target of a transfer job; undefined if it was deleted or replaced, or if its copy was
 *  aborted. */
async function findPendingCopy(
  view: RecordView,
  job: TransferJob,
): Promise<PendingCopy | undefined> {
  const [container, name] = job.scope;
  const key = { container: container as bigint, name: name as string };
  const record = await view.get(blobs, key);
  const copy = record?.copy;
  if (record === undefined || copy?.id !== job.id || copy.status !== "pending") return undefined;
  return { key, record, copy };
}

/** Description of a failed copy to a page blob: the headers of the source stated a multiple of 512
 *  bytes, but its body had another length. */
const notPages = '400 BadRequest "The source is no page blob."';

/** The handler of Copy Blob: stores progress, fetched bytes or failure in the copy's target. */
export const blobCopy: TransferHandler = {
  content: async (view, job) => (await findPendingCopy(view, job))?.record.content,
  progress: async (view, job, copiedBytes) => {
    const pending = await findPendingCopy(view, job);
    if (pending === undefined) return undefined;
    const { key, record, copy } = pending;
    return [put(blobs, key, { ...record, copy: { ...copy, copiedBytes } })];
  },
  finish: async (view, job, end) => {
    const pending = await findPendingCopy(view, job);
    if (pending === undefined) return undefined;
    const { key, record, copy } = pending;
    const completed = view.now;
    const etag = nextETag(completed, record.etag);
    const isPages = record.type === "PageBlob";
    const isMisaligned =
      end.ended === "success" && isPages && !isPageBlobLength(end.received.length);
    if (end.ended === "failed" || isMisaligned) {
      const description = end.ended === "failed" ? end.description : notPages;
      const failed = { ...copy, status: "failed" as const, description, completed };
      const content =
        job.isOwnContent === true ? empty(isPages ? record.content.length : 0) : undefined;
      return [put(blobs, key, { ...record, etag, copy: failed }, content)];
    }
    const { length } = end.received;
    const done = { status: "success" as const, copiedBytes: length, totalBytes: length, completed };
    const full = { ...record, etag, copy: { ...copy, ...done } };
    const change = { api: "CopyBlob", before: record, after: full, contentLength: length } as const;
    const events = await serverEvents(view, key, change);
    return [put(blobs, key, full, whole(end.received)), ...events];
  },
};
