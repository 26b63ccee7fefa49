import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Sizes } from "../admin/admin-context.ts";

const filesMax = 100_000;

/** Disk space used by a data folder; without one nothing is known. */
export async function sizesOf(location: string | undefined): Promise<Sizes> {
  if (location === undefined) return {};
  const [storeBytes, contentBytes] = await Promise.all([
    folderBytes(join(location, "store")),
    folderBytes(join(location, "extents")),
  ]);
  return {
    ...(storeBytes === undefined ? {} : { storeBytes }),
    ...(contentBytes === undefined ? {} : { contentBytes }),
  };
}

/** Disk space of the files in a folder. Counts allocated blocks instead of file lengths, because
 *  the files of the store are sparse. */
async function folderBytes(folder: string): Promise<number | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes: number | undefined;
  for (const entry of entries.slice(0, filesMax)) {
    if (!entry.isFile()) continue;
    // The file may be deleted between listing and stat.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes = (bytes ?? 0) + Math.min(found?.size ?? 0, (found?.blocks ?? 0) * bytesPerBlock);
  }
  return bytes;
}

const bytesPerBlock = 512;
