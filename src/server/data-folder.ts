import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, StartRefused, systemErrorCode } from "./start-refused.ts";

/**
 * A location holds one folder `data-N`. A reset makes `data-(N+1)` and the highest number counts
 * from then on, so it takes the same moment whatever is stored; what lies below is removed later.
 */
const folderPattern = /^data-(\d{1,9})$/;

export async function openDataFolder(location: string): Promise<string> {
  try {
    await mkdir(location, { recursive: true });
    const generations = await listGenerations(location);
    return await makeGeneration(location, generations.at(-1) ?? 1);
  } catch (error) {
    throw new StartRefused([`location: ${location} cannot be used: ${explain(error)}`], error);
  }
}

export async function nextDataFolder(location: string): Promise<string> {
  const generations = await listGenerations(location);
  return makeGeneration(location, (generations.at(-1) ?? 0) + 1);
}

/** Removes all but the current folder: what resets left behind, also before a crash. */
export async function removeOldDataFolders(location: string): Promise<void> {
  const old = (await listGenerations(location)).slice(0, -1);
  for (const generation of old) {
    await rm(folderOf(location, generation), { recursive: true, force: true });
  }
}

async function listGenerations(location: string): Promise<readonly number[]> {
  const names = await readdir(location);
  return names
    .map((name) => Number(folderPattern.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .toSorted((a, b) => a - b);
}

async function makeGeneration(location: string, generation: number): Promise<string> {
  const folder = folderOf(location, generation);
  await mkdir(folder, { recursive: true });
  // A reset that was acknowledged must not come undone by a loss of power.
  await syncFolder(location);
  return folder;
}

function folderOf(location: string, generation: number): string {
  return join(location, `data-${generation}`);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function explain(error: unknown): string {
  switch (systemErrorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "this process may not read or write there";
    case "ENOTDIR":
    case "EEXIST":
      return "it is not a folder";
    case "ENOSPC":
      return "the disk is full";
    case "EROFS":
      return "the disk is read-only";
    default:
      return messageOf(error);
  }
}
