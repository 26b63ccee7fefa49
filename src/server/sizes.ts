import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Sizes } from "../admin/admin-context.ts";

const filesMax = 100_000;

/** What a location takes up on disk; without one, nobody can tell. */
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

/** Blocks that are really there: files of the store are longer than what they hold. */
async function folderBytes(folder: string): Promise<number | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes: number | undefined;
  for (const entry of entries.slice(0, filesMax)) {
    if (!entry.isFile()) continue;
    // A file may go away between the two looks.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes = (bytes ?? 0) + Math.min(found?.size ?? 0, (found?.blocks ?? 0) * bytesPerBlock);
  }
  return bytes;
}

const bytesPerBlock = 512;
