import { plural } from "../format.ts";
import { startJob, type ItemContext, type RunContext } from "../jobs/jobs.ts";
import { downloadZip } from "../jobs/zip-job.ts";
import { describeFailure } from "../parts/notices.tsx";
import { everyRow, type FetchPage } from "../parts/arranged-pages.ts";
import { selectedRows, type Selection } from "../parts/selection.ts";
import { done, failed, mapped, type Result } from "../result.ts";
import { deleteBlob, undeleteBlob } from "../rest/blob-actions.ts";
import { listBlobs, type BlobEntry } from "../rest/blob-list.ts";
import { copyBlobState, moveBlob } from "../rest/blob-move.ts";
import { getProperties, pathOf, type BlobAddress } from "../rest/blob.ts";
import { ownLease } from "../rest/own-leases.ts";
import { deleteDirectory, getPathState, renamePath, type PathAddress } from "../rest/path.ts";
import { requestStream } from "../rest/request.ts";
import type { FolderAddress } from "./blob-route.ts";

/** Selected rows of a folder, and how to process them. */
export interface BlobBatch {
  readonly address: FolderAddress;
  readonly selection: Pick<Selection<BlobEntry>, "isAll" | "rows" | "has">;
  /** The list from which Select all selects. */
  readonly fetchPage: FetchPage<BlobEntry>;
  /** In a hierarchical account directories are moved and deleted as a whole. */
  readonly isHierarchical: boolean;
  readonly onDone: () => void;
}

const pageRows = 1000;

export function describeBatch({ selection: { isAll, rows }, address }: BlobBatch): string {
  if (isAll) return `all of ${address.container}/${address.prefix}`;
  const [first] = rows;
  return rows.length === 1 && first !== undefined
    ? first.name
    : plural(rows.length, "entry", "entries");
}

function rowsOf({ selection, fetchPage }: BlobBatch, { signal }: ItemContext) {
  return selectedRows(selection, () => everyRow(fetchPage, signal));
}

/** All blobs below a folder, in a flat list. */
export function blobPages({ account, container, prefix }: FolderAddress): FetchPage<BlobEntry> {
  return (marker, { signal }) =>
    listBlobs({
      account,
      container,
      prefix,
      delimiter: undefined,
      marker,
      include: [],
      resultsMax: pageRows,
      signal,
    });
}

/** Replaces folders by the blobs below them, which are listed page by page. */
async function* blobsBelow(
  batch: BlobBatch,
  context: ItemContext,
): AsyncGenerator<Result<BlobEntry>> {
  const { account, container } = batch.address;
  for await (const row of rowsOf(batch, context)) {
    if (!row.ok || row.value.kind === "blob") {
      yield row;
      continue;
    }
    const below = blobPages({ account, container, prefix: row.value.name });
    for await (const one of everyRow(below, context.signal)) {
      if (!one.ok || one.value.kind === "blob") yield one;
    }
  }
}

/** What a batch contains, counted up to `blobsMax` blobs. */
export interface BatchCount {
  readonly blobs: number;
  /** Snapshots and versions that are selected themselves. */
  readonly oldStates: number;
  readonly bytes: number;
  readonly isComplete: boolean;
  readonly problem?: string;
}

/** Counts the blobs of a batch, with those below its folders; reports while it counts. */
export async function countBlobs(
  batch: BlobBatch,
  { signal, blobsMax }: { readonly signal: AbortSignal; readonly blobsMax: number },
  onCount: (count: BatchCount) => void,
): Promise<void> {
  let [blobs, oldStates, size] = [0, 0, 0];
  const report = (isComplete: boolean, problem?: string): void =>
    onCount({ blobs, oldStates, bytes: size, isComplete, ...(problem && { problem }) });
  for await (const row of blobsBelow(batch, { signal, idle: () => Promise.resolve() })) {
    if (signal.aborted) return;
    if (!row.ok) return report(true, describeFailure(row.failure));
    if (isBase(row.value)) blobs += 1;
    else oldStates += 1;
    size += row.value.length ?? 0;
    if (blobs + oldStates >= blobsMax) break;
    if ((blobs + oldStates) % pageRows === 0) report(false);
  }
  report(true);
}

/** The blob, snapshot or version of a row. */
export function placeOf({ account, container }: FolderAddress, entry: BlobEntry): BlobAddress {
  const { name, snapshot, isCurrentVersion, version } = entry;
  const isOld = snapshot === undefined && !isCurrentVersion;
  return { account, container, name, snapshot, version: isOld ? version : undefined };
}

function isBase({ snapshot, isCurrentVersion }: BlobEntry): boolean {
  return snapshot === undefined && isCurrentVersion;
}

function pathAddress({ account, container }: FolderAddress, { name }: BlobEntry): PathAddress {
  return { account, container, path: name.replace(/\/$/, "") };
}

/** The ETag to require: the listed one, or on a retry the present one. */
async function etagOf(
  address: FolderAddress,
  entry: BlobEntry,
  { isRetry }: RunContext,
): Promise<Result<string>> {
  if (!isRetry) return done(entry.etag);
  const state =
    entry.kind === "folder"
      ? await getPathState(pathAddress(address, entry))
      : await getProperties(placeOf(address, entry));
  return mapped(state, ({ etag }) => etag);
}

/** Deletes with If-Match on the listed ETags: blobs changed since then are kept. */
export function deleteBatch(batch: BlobBatch): void {
  const { address, isHierarchical, onDone } = batch;
  startJob<BlobEntry>({
    title: `Delete ${describeBatch(batch)}`,
    items: (context) => (isHierarchical ? rowsOf(batch, context) : blobsBelow(batch, context)),
    nameOf: ({ name }) => name,
    run: async (entry, context) => {
      const etag = await etagOf(address, entry, context);
      if (!etag.ok) return etag;
      if (entry.kind === "folder") {
        const directory = pathAddress(address, entry);
        const leaseId = ownLease("blob", [address.account, address.container, directory.path]);
        return deleteDirectory(directory, { ifMatch: etag.value || undefined, leaseId });
      }
      const condition = isBase(entry) ? { ifMatch: etag.value } : {};
      return deleteBlob(placeOf(address, entry), { condition, signal: context.signal });
    },
    onDone,
  });
}

export function undeleteBatch(batch: BlobBatch): void {
  startJob<BlobEntry>({
    title: `Undelete ${describeBatch(batch)}`,
    items: (context) => rowsOf(batch, context),
    nameOf: ({ name }) => name,
    run: ({ name }) => undeleteBlob({ ...batch.address, name }),
    onDone: batch.onDone,
  });
}

interface Destination {
  readonly account: string;
  readonly container: string;
  /** A folder, empty or with a slash at its end. */
  readonly prefix: string;
  readonly mayReplace: boolean;
}

/** Copies or moves the rows, keeping their names below the shown folder. */
export function transferBatch(batch: BlobBatch, to: Destination, action: "Copy" | "Move"): void {
  const { address, isHierarchical, onDone } = batch;
  const isMove = action === "Move";
  // Within an account a directory of a tree is moved as a whole.
  const isRename = isMove && isHierarchical && to.account === address.account;
  startJob<BlobEntry>({
    title: `${action} ${describeBatch(batch)}`,
    items: (context) => (isRename ? rowsOf(batch, context) : blobsBelow(batch, context)),
    nameOf: ({ name }) => name,
    run: async (entry, context) => {
      const etag = await etagOf(address, entry, context);
      if (!etag.ok) return etag;
      if (isMove && !isBase(entry)) return failed(notMovable);
      const name = to.prefix + entry.name.slice(address.prefix.length);
      const target = { account: to.account, container: to.container, name };
      const { mayReplace } = to;
      if (isRename) {
        return movePath(pathAddress(address, entry), { ...target, etag: etag.value, mayReplace });
      }
      const tier = entry.isTierInferred ? undefined : entry.tier || undefined;
      const from = { ...placeOf(address, entry), etag: etag.value, tier };
      const { signal } = context;
      return isMove
        ? moveBlob(from, target, { mayReplace, signal })
        : copyBlobState(from, target, { mayReplace, signal });
    },
    onDone,
  });
}

const notMovable = {
  status: 400,
  code: "NotMovable",
  message: "Snapshots and versions cannot be moved",
};

/** Renames a file or directory of a tree, which is one atomic operation. */
async function movePath(
  from: PathAddress,
  to: BlobAddress & { readonly etag: string; readonly mayReplace: boolean },
): Promise<Result<unknown>> {
  const target = { ...from, container: to.container, path: to.name.replace(/\/$/, "") };
  const present = to.mayReplace ? await getPathState(target) : undefined;
  const condition = present?.ok === true ? { ifMatch: present.value.etag } : { ifNoneMatch: "*" };
  const sourceLeaseId = ownLease("blob", [from.account, from.container, from.path]);
  return renamePath(from, { to: target, sourceEtag: to.etag, sourceLeaseId, condition });
}

/** Saves the blobs as one zip file. */
export function zipBatch(batch: BlobBatch): void {
  const { address } = batch;
  const folder = address.prefix.split("/").at(-2) ?? address.container;
  const [first] = batch.selection.rows;
  const isOne = !batch.selection.isAll && batch.selection.rows.length === 1;
  const name = isOne && first !== undefined ? lastSegment(first.name) : folder;
  downloadZip<BlobEntry>({
    title: `Download ${describeBatch(batch)}`,
    fileName: `${name}.zip`,
    items: (context) => blobsBelow(batch, context),
    nameOf: (entry) => entry.name,
    open: async (entry, signal) => {
      const blob = placeOf(address, entry);
      const query = { snapshot: blob.snapshot, versionid: blob.version };
      const answer = await requestStream("blob", pathOf(blob), { query, signal });
      const mark = blob.snapshot ?? blob.version;
      const path = entry.name.slice(address.prefix.length);
      return mapped(answer, ({ headers, body }) => ({
        path: mark === undefined ? path : `${path} (${mark.replaceAll(":", "-")})`,
        modifiedAt: new Date(headers.get("last-modified") ?? 0),
        body,
      }));
    },
  });
}

function lastSegment(name: string): string {
  return name.replace(/\/$/, "").split("/").at(-1) ?? name;
}

/** Counts the blobs and their bytes. */
export function countBatch(batch: BlobBatch, show: (blobs: number, bytes: number) => string): void {
  let blobs = 0;
  let bytes = 0;
  startJob<BlobEntry>({
    title: `Count ${describeBatch(batch)}`,
    items: (context) => blobsBelow(batch, context),
    nameOf: ({ name }) => name,
    run: ({ length = 0 }) => {
      blobs += 1;
      bytes += length;
      return Promise.resolve(done(undefined));
    },
    finish: () => show(blobs, bytes),
    onDone: () => {},
  });
}
