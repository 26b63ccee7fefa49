/** A file to upload and its path below the current folder. */
export interface Source {
  readonly file: File;
  readonly path: string;
}

const filesMax = 100_000;

export function sourcesOfInput(files: FileList | null): readonly Source[] {
  return [...(files ?? [])].map((file) => ({
    file,
    path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
  }));
}

/** Dropped files, and all files below dropped folders. */
export async function sourcesOfDrop(transfer: DataTransfer): Promise<readonly Source[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return sourcesOfInput(transfer.files);
  const found: Source[] = [];
  const waiting: FileSystemEntry[] = entries;
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    if (found.length >= filesMax) break;
    if (isFile(entry)) {
      const file = await fileOf(entry);
      if (file !== undefined) found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    } else if (isFolder(entry)) waiting.push(...(await entriesOf(entry)));
  }
  return found;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function fileOf(entry: FileSystemFileEntry): Promise<File | undefined> {
  return new Promise((resolve) => {
    entry.file(resolve, () => resolve(undefined));
  });
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  const next = (): Promise<readonly FileSystemEntry[]> =>
    new Promise((resolve) => {
      reader.readEntries(resolve, () => resolve([]));
    });
  for (let batch = await next(); batch.length > 0; batch = await next()) {
    all.push(...batch);
    if (all.length >= filesMax) break;
  }
  return all;
}
