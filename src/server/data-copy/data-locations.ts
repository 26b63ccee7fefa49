import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExtentFiles } from "../../content/extent-files.ts";
import type { Store } from "../../store/store.ts";
import { openStorageBackend, type Close, type FoundationOptions } from "../storage-backends.ts";

/** What a copy is made from, or to. */
export interface DataLocation {
  /** A data folder, or `postgres://…`. */
  readonly records: string;
  /** A folder, or `s3://…`; a data folder has its own. */
  readonly bytes: string | undefined;
}

export interface OpenPlace {
  readonly store: Store;
  readonly files: ExtentFiles;
  close(): Promise<void>;
}

type World = Pick<FoundationOptions, "clock" | "random" | "log">;

const isDatabase = (text: string): boolean => /^postgres(ql)?:\/\//.test(text);
const isBucket = (text: string): boolean => text.startsWith("s3://");

/** Why a place cannot be one, or nothing. */
export function checkPlace({ records, bytes }: DataLocation): string | undefined {
  const isFolder = !isDatabase(records);
  if (!isFolder && bytes === undefined) {
    return "a database holds records only: say where the bytes are, too";
  }
  const splits = isFolder && bytes !== undefined && !isBucket(bytes);
  return splits ? "a data folder has its bytes inside, or in s3://…" : undefined;
}

/** A source that is not there must not be made. */
export function isMissing({ records }: DataLocation): boolean {
  return !isDatabase(records) && !existsSync(join(records, "store"));
}

/** As the server would open it, without anything that works in the background. */
export async function openDataLocation(
  { records, bytes }: DataLocation,
  world: World,
): Promise<OpenPlace> {
  const opened: Close[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  const storeUrl = isDatabase(records) ? records : undefined;
  const contentUrl = bytes !== undefined && isBucket(bytes) ? bytes : undefined;
  const folder = storeUrl === undefined ? records : (bytes ?? ".");
  const places = { location: resolve(folder), storeUrl, contentUrl, memoryBytesMax: undefined };
  try {
    const { store, files } = await openStorageBackend({ ...places, ...world }, opened);
    return { store, files, close };
  } catch (error) {
    await close();
    throw error;
  }
}
