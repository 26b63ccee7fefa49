import { bytes, plural } from "../format.ts";
import { startJob, type ItemContext } from "../jobs/jobs.ts";
import { downloadZip } from "../jobs/zip-job.ts";
import { everyRow, type FetchPage } from "../parts/arranged-pages.ts";
import { selectedRows, type Selection } from "../parts/selection.ts";
import { done, failed, mapped, type Result } from "../result.ts";
import { copyFile } from "../rest/file-copy.ts";
import { listFolder, type FileEntry, type FolderAddress } from "../rest/file-list.ts";
import {
  createFolder,
  deleteEntry,
  filePath,
  renameEntry,
  type FileAddress,
} from "../rest/file.ts";
import { requestStream } from "../rest/request.ts";
import { joined } from "./upload-file.ts";

/** Selected rows of a folder of a share. */
export interface FileBatch {
  readonly address: FolderAddress;
  readonly selection: Pick<Selection<FileEntry>, "isAll" | "rows" | "has">;
  /** The list from which Select all selects. */
  readonly fetchPage: FetchPage<FileEntry>;
  readonly onDone: () => void;
}

interface FileItem {
  readonly path: string;
  readonly entry: FileEntry;
}

/** Directories that a deletion keeps in memory until their files are deleted. */
const foldersMax = 100_000;

export function describeFiles({ selection: { isAll, rows }, address }: FileBatch): string {
  if (isAll) return `all of ${joined(address.share, address.folder)}`;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) return joined(address.folder, first.name);
  return plural(rows.length, "entry", "entries");
}

/** The rows themselves, without what is below directories. */
async function* ownItems(
  { selection, fetchPage, address }: FileBatch,
  { signal }: ItemContext,
): AsyncGenerator<Result<FileItem>> {
  for await (const row of selectedRows(selection, () => everyRow(fetchPage, signal))) {
    yield mapped(row, (entry) => ({ path: joined(address.folder, entry.name), entry }));
  }
}

/** The rows and everything below them; a directory comes before its contents. */
async function* itemsBelow(
  batch: FileBatch,
  context: ItemContext,
): AsyncGenerator<Result<FileItem>> {
  for await (const item of ownItems(batch, context)) {
    yield item;
    if (item.ok) yield* contentsOf(batch.address, item.value, context);
  }
}

async function* contentsOf(
  address: FolderAddress,
  { path, entry }: FileItem,
  context: ItemContext,
): AsyncGenerator<Result<FileItem>> {
  if (entry.kind === "file") return;
  const list: FetchPage<FileEntry> = (marker) =>
    listFolder({ ...address, folder: path }, { prefix: "", marker });
  for await (const row of everyRow(list, context.signal)) {
    const item = mapped(row, (found) => ({ path: joined(path, found.name), entry: found }));
    yield item;
    if (item.ok) yield* contentsOf(address, item.value, context);
  }
}

const nameOf = ({ path }: FileItem): string => path;

function placeAt({ account, share, snapshot }: FolderAddress, path: string): FileAddress {
  return { account, share, path, snapshot };
}

/** Deletes files first, then directories from the deepest on: the service deletes only empty
 *  directories. */
export function deleteFiles(batch: FileBatch): void {
  startJob<FileItem>({
    title: `Delete ${describeFiles(batch)}`,
    items: async function* (context) {
      const folders: FileItem[] = [];
      for await (const item of itemsBelow(batch, context)) {
        if (!item.ok || item.value.entry.kind === "file") yield item;
        else if (folders.length < foldersMax) folders.push(item.value);
        else return yield failed(tooManyFolders);
      }
      for (const folder of folders.toReversed()) {
        await context.idle();
        yield done(folder);
      }
    },
    nameOf,
    run: ({ path, entry }) => deleteEntry(placeAt(batch.address, path), entry.kind === "folder"),
    onDone: batch.onDone,
  });
}

const tooManyFolders = {
  status: 413,
  code: "TooManyDirectories",
  message: "One job deletes at most 100,000 directories",
};

/** Moves each row by one rename, which includes what is below it. */
export function moveFiles(batch: FileBatch, folder: string): void {
  startJob<FileItem>({
    title: `Move ${describeFiles(batch)}`,
    items: (context) => ownItems(batch, context),
    nameOf,
    run: ({ path, entry }) =>
      renameEntry(placeAt(batch.address, path), {
        to: joined(folder, entry.name),
        isFolder: entry.kind === "folder",
      }),
    onDone: batch.onDone,
  });
}

export function copyFiles(
  batch: FileBatch,
  to: { readonly share: string; readonly folder: string },
): void {
  const { address } = batch;
  const start = address.folder === "" ? 0 : address.folder.length + 1;
  startJob<FileItem>({
    title: `Copy ${describeFiles(batch)}`,
    items: async function* (context) {
      for await (const item of itemsBelow(batch, context)) {
        yield item;
        // A directory must exist before its contents are copied.
        if (item.ok && item.value.entry.kind === "folder") await context.idle();
      }
    },
    nameOf,
    run: async ({ path, entry }, { signal }) => {
      const { account } = address;
      const target = { account, share: to.share, path: joined(to.folder, path.slice(start)) };
      if (entry.kind === "file") return copyFile(placeAt(address, path), target, signal);
      const made = await createFolder(target);
      return !made.ok && made.failure.status === 409 ? done(undefined) : made;
    },
    onDone: batch.onDone,
  });
}

/** Saves the files as one zip file. */
export function zipFiles(batch: FileBatch): void {
  const { address } = batch;
  const start = address.folder === "" ? 0 : address.folder.length + 1;
  const [first] = batch.selection.rows;
  const isOne = !batch.selection.isAll && batch.selection.rows.length === 1;
  const folder = address.folder.split("/").at(-1) || address.share;
  downloadZip<FileItem>({
    title: `Download ${describeFiles(batch)}`,
    fileName: `${isOne && first !== undefined ? first.name : folder}.zip`,
    items: async function* (context) {
      for await (const item of itemsBelow(batch, context)) {
        if (!item.ok || item.value.entry.kind === "file") yield item;
      }
    },
    nameOf,
    open: async ({ path }, signal) => {
      const file = placeAt(address, path);
      const query = { sharesnapshot: file.snapshot };
      const answer = await requestStream("file", filePath(file), { query, signal });
      return mapped(answer, ({ headers, body }) => ({
        path: path.slice(start),
        modifiedAt: new Date(headers.get("last-modified") ?? 0),
        body,
      }));
    },
  });
}

/** Counts files, directories and bytes. */
export function countFiles(batch: FileBatch): void {
  let files = 0;
  let folders = 0;
  let size = 0;
  startJob<FileItem>({
    title: `Count ${describeFiles(batch)}`,
    items: (context) => itemsBelow(batch, context),
    nameOf,
    run: ({ entry }) => {
      if (entry.kind === "folder") folders += 1;
      else files += 1;
      size += entry.length ?? 0;
      return Promise.resolve(done(undefined));
    },
    finish: () =>
      `${plural(files, "file")}, ${plural(folders, "directory", "directories")}, ${bytes(size)}`,
    onDone: () => {},
  });
}
