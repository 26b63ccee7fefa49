import type { Result } from "../result.ts";
import { createFolder, filePath, getFileProperties, type FileAddress } from "../rest/file.ts";
import type { FolderAddress } from "../rest/file-list.ts";
import { request } from "../rest/request.ts";
import type { Source } from "../upload/source.ts";
import { addTransfers, type Send } from "../upload/transfers.ts";
import { contentTypeOf } from "../upload/upload-blob.ts";

/** Length of one Put Range, which is its maximum. */
const rangeBytes = 4 * 1024 * 1024;

export function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function uploadFilesInto(
  folder: FolderAddress,
  sources: readonly Source[],
  onDone: () => void,
): void {
  const { account, share } = folder;
  const placeOf = ({ path }: Source): FileAddress => ({
    account,
    share,
    path: joined(folder.folder, path),
  });
  const made = new Map<string, Promise<void>>();
  addTransfers(sources, {
    send: (work) => send(placeOf(work.source), work, made),
    // An incomplete file is written again, so that there is nothing to recognise.
    isOwn: () => Promise.resolve(false),
    etagOf: (source) => etagOf(placeOf(source)),
    onDone,
  });
}

async function etagOf(address: FileAddress): Promise<string | undefined> {
  const found = await getFileProperties(address);
  return found.ok ? (found.value.get("etag") ?? undefined) : undefined;
}

/** Creates the parent directories, each once. */
function makeFolders(address: FileAddress, made: Map<string, Promise<void>>): Promise<void> {
  const cut = address.path.lastIndexOf("/");
  if (cut < 0) return Promise.resolve();
  const path = address.path.slice(0, cut);
  const known = made.get(path);
  if (known !== undefined) return known;
  const work = async (): Promise<void> => {
    await makeFolders({ ...address, path }, made);
    // The result is ignored: the directory may already exist.
    await createFolder({ ...address, path });
  };
  const making = work();
  made.set(path, making);
  return making;
}

async function send(
  address: FileAddress,
  { source, condition, attempt, signal, onProgress }: Parameters<Send>[0],
  made: Map<string, Promise<void>>,
): Promise<Result<unknown>> {
  const { file } = source;
  await makeFolders(address, made);
  // Create File has no conditional headers, so another client may still create the file in between.
  // A file in the state that an earlier attempt has left is written again.
  const present = condition.ifNoneMatch === "*" ? await etagOf(address) : undefined;
  if (present !== undefined && present !== attempt.etag) {
    const message = "A file of this name exists";
    return { ok: false, failure: { status: 409, code: "ResourceAlreadyExists", message } };
  }
  const created = await request("file", filePath(address), {
    method: "PUT",
    headers: {
      "x-ms-type": "file",
      "x-ms-content-length": String(file.size),
      "x-ms-content-type": contentTypeOf(file),
    },
    signal,
  });
  if (!created.ok) return created;
  attempt.etag = created.value.headers.get("etag") ?? undefined;
  for (let start = 0; start < file.size; start += rangeBytes) {
    const end = Math.min(file.size, start + rangeBytes);
    const written = await request("file", filePath(address), {
      method: "PUT",
      query: { comp: "range" },
      headers: { "x-ms-write": "update", "x-ms-range": `bytes=${start}-${end - 1}` },
      body: file.slice(start, end),
      signal,
      onSent: (bytes) => onProgress(Math.min(end, start + bytes)),
    });
    if (!written.ok) return written;
    attempt.etag = written.value.headers.get("etag") ?? undefined;
    onProgress(end);
  }
  return created;
}
