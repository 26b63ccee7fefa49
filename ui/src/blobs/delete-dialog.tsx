import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { accounts } from "../accounts.ts";
import { bytes, count, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Problem } from "../parts/states.tsx";
import { getServiceProperties } from "../rest/service-properties.ts";
import { useStore } from "../store.ts";
import { countBlobs, deleteBatch, describeBatch, type BatchCount, type BlobBatch } from "./bulk.ts";

/** Blobs that are counted before the deletion; more than that is shown as such. */
const countedMax = 20_000;
/** Blobs above which the user types the name of the container. */
const typedAbove = 1000;

interface DeleteDialogProps {
  readonly batch: BlobBatch;
  readonly onClose: () => void;
}

/** Says what a deletion removes and what stays. The deletion runs as a job, so that large folders
 *  show progress and can be cancelled. */
export function DeleteDialog({ batch, onClose }: DeleteDialogProps): JSX.Element {
  const [counted, setCounted] = useState<BatchCount>();
  const { container } = batch.address;
  useEffect(() => {
    const abort = new AbortController();
    void countBlobs(batch, { signal: abort.signal, blobsMax: countedMax }, setCounted);
    return () => abort.abort();
  }, []);
  const isMany = counted !== undefined && counted.blobs + counted.oldStates > typedAbove;
  return (
    <Confirm
      title="Delete"
      text={`Delete ${describeBatch(batch)}?`}
      action="Delete"
      typed={isMany ? container : undefined}
      disabled={counted?.isComplete !== true && !isMany}
      onConfirm={() => {
        deleteBatch(batch);
        return Promise.resolve(undefined);
      }}
      onClose={onClose}
    >
      <p role="status">{counted === undefined ? "Counting…" : countWords(counted)}</p>
      <Problem text={counted?.problem} />
      <Consequences batch={batch} isOfBlobs={counted === undefined || counted.blobs > 0} />
    </Confirm>
  );
}

function countWords({ blobs, oldStates, bytes: size, isComplete }: BatchCount): string {
  if (blobs + oldStates >= countedMax) return `More than ${count(countedMax)} blobs.`;
  const parts = [
    ...(blobs > 0 || oldStates === 0 ? [plural(blobs, "blob")] : []),
    ...(oldStates > 0 ? [plural(oldStates, "snapshot or version", "snapshots and versions")] : []),
  ];
  return `${parts.join(" and ")}, ${bytes(size)}${isComplete ? "." : " so far…"}`;
}

interface ConsequencesProps {
  readonly batch: BlobBatch;
  readonly isOfBlobs: boolean;
}

/** What happens to snapshots, versions and the container. */
function Consequences({ batch, isOfBlobs }: ConsequencesProps): JSX.Element {
  const { account, container } = batch.address;
  const known = useStore(accounts).find(({ name }) => name === account);
  const properties = useLoad((signal) => getServiceProperties(account, "blob", signal), [account]);
  const days = properties.value?.retentionDays;
  const { isAll, rows } = batch.selection;
  const hasFolders = isAll || rows.some(({ kind }) => kind === "folder");
  const whose = !hasFolders && rows.length === 1 ? "Its" : "Their";
  const hasVersions = known?.versioning === true;
  return (
    <ul class="facts-list">
      {hasFolders && <li>Folders are deleted with everything in them.</li>}
      {isOfBlobs && <li>{whose} snapshots are deleted, too.</li>}
      {isOfBlobs && hasVersions && (
        <li>{whose} versions stay: the last content is kept as a version.</li>
      )}
      {days !== undefined && <li>Deleted blobs can be restored for {plural(days, "day")}.</li>}
      {days === undefined && !hasVersions && properties.value !== undefined && (
        <li>This cannot be undone.</li>
      )}
      <li>The container {container} stays.</li>
    </ul>
  );
}
