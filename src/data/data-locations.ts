import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExtentFiles } from "../content/extents/extent-files.ts";
import type { DataKey } from "../store/encryption/keyring.ts";
import type { Store } from "../store/store.ts";
import { openStorageBackend, type Close, type StorageOptions } from "./storage-backends.ts";

/** Opens the data in a folder, a database or a bucket for commands that work on it directly, not
 *  through a server. */

/** The place of the records and contents that a command opens without a server: the source or
 *  target of `etagere copy`, or the data folder of another command. */
export interface DataLocation {
  /** Path of a data folder, or a URL `postgres://…`. */
  readonly records: string;
  /** A folder or `s3://…`; undefined: the contents are inside the data folder. */
  readonly bytes: string | undefined;
  /** Source of the master key, if the data is encrypted. */
  readonly encryption?: string | undefined;
}

/** The opened stores of a location. */
export interface OpenDataLocation {
  readonly store: Store;
  /** The extent files as they are stored: not decrypted, because a copy keeps them as they are. */
  readonly files: ExtentFiles;
  /** Undefined if the data is not encrypted. */
  readonly dataKeys: readonly DataKey[] | undefined;
  close(): Promise<void>;
}

type World = Pick<StorageOptions, "clock" | "random" | "log">;

const isDatabase = (text: string): boolean => /^postgres(ql)?:\/\//.test(text);
const isBucket = (text: string): boolean => text.startsWith("s3://");

/** Returns why a location is invalid; undefined if it is valid. */
export function checkDataLocation({ records, bytes }: DataLocation): string | undefined {
  const isFolder = !isDatabase(records);
  if (!isFolder && bytes === undefined) {
    return "postgres:// stores records only: give the location of the contents as well";
  }
  const splits = isFolder && bytes !== undefined && !isBucket(bytes);
  return splits ? "contents of a data folder are inside it or in s3://…" : undefined;
}

/** Whether a data folder does not exist. Opening it as a source would create it. */
export function isMissing({ records }: DataLocation): boolean {
  return !isDatabase(records) && !existsSync(join(records, "store"));
}

/** Opens the stores of a location as the server does, without background tasks. A new location gets
 *  `newKeys` as data keys if it is encrypted: a copy has those of its source, because encrypted
 *  contents are copied as they are. */
export async function openDataLocation(
  { records, bytes, encryption }: DataLocation,
  world: World,
  newKeys?: readonly DataKey[],
): Promise<OpenDataLocation> {
  const opened: Close[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).toReversed()) await each();
  };
  const storeUrl = isDatabase(records) ? records : undefined;
  const contentUrl = bytes !== undefined && isBucket(bytes) ? bytes : undefined;
  // Opening needs a folder, and creates it. Where neither records nor contents are in one, it is
  // the current folder, in which nothing is written then.
  const folder = storeUrl === undefined ? records : contentUrl === undefined ? bytes : undefined;
  const location = resolve(folder ?? ".");
  const places = { location, storeUrl, contentUrl, memoryBytesMax: undefined };
  const options = { ...places, ...world, encryption, dataKeys: newKeys };
  try {
    const { store, storedFiles: files, dataKeys } = await openStorageBackend(options, opened);
    return { store, files, dataKeys, close };
  } catch (error) {
    await close();
    throw error;
  }
}
