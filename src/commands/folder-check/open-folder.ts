import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { namesIn } from "../../process/folder-listing.ts";
import { openDiskFiles } from "../../content/extents/disk-files.ts";
import type { ExtentFiles } from "../../content/extents/extent-files.ts";
import type { Clock, Log } from "../../base/world.ts";
import { LmdbEngine } from "../../store/lmdb/lmdb-engine.ts";
import { checkFormat } from "../../store/lmdb/location.ts";
import { checkLength, recordsFile } from "../../store/lmdb/data-file.ts";
import { openLmdbStore } from "../../store/lmdb/open-lmdb-store.ts";
import { openProcesses } from "../../store/processes.ts";
import { StartRefused } from "../../host/refused.ts";

/** Opens a data folder for commands that read it while servers may use it. */

/** The folder to open, for `etagere check` and backups. */
export interface FolderOptions {
  readonly location: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A data folder opened for reading, while servers may use it. Records and extents are not
 *  decrypted. */
interface OpenFolder {
  readonly engine: LmdbEngine;
  readonly files: ExtentFiles;
  /** Extents whose files existed when the folder was opened, before any state of it is read. */
  readonly filesBefore: ReadonlySet<bigint>;
  close(): Promise<void>;
}

export const storePath = (location: string): string => join(location, "store", recordsFile);
export const formatPath = (location: string): string => join(location, "store", "format");
export const extentsPath = (location: string): string => join(location, "extents");

/** Opens a data folder for `etagere check` and for backups, while servers may run. This process
 *  registers as a user of the folder that may still read any state, so that until `close` no server
 *  deletes an extent that this or a later state refers to. */
export async function openFolder(options: FolderOptions): Promise<OpenFolder> {
  const { location, clock, log } = options;
  checkIsFolder(location);
  const ephemeralOptions = { location: join(location, "ephemeral"), ephemeral: true };
  const ephemeral = await openLmdbStore({ ...ephemeralOptions, clock, log });
  try {
    const processes = await openProcesses({ store: ephemeral });
    const filesBefore = listExtents(extentsPath(location));
    const files = await openDiskFiles(extentsPath(location));
    const engine = new LmdbEngine({ path: storePath(location), noSync: false, readOnly: true });
    const close = async (): Promise<void> => {
      await engine.close();
      await processes.close();
      await ephemeral.close();
    };
    return { engine, files, filesBefore, close };
  } catch (error) {
    await ephemeral.close();
    throw error;
  }
}

function checkIsFolder(location: string): void {
  // The second condition also rejects a file as `location`.
  if (statSync(storePath(location), { throwIfNoEntry: false })?.isFile() !== true) {
    throw new StartRefused([`${location}: not a data folder`]);
  }
  checkFormat(dirname(storePath(location)));
  checkLength(storePath(location));
}

function listExtents(folder: string): ReadonlySet<bigint> {
  if (!existsSync(folder)) return new Set();
  const names = namesIn(folder).filter((name) => /^[0-9a-f]{16}\.extent$/.test(name));
  return new Set(names.map((name) => BigInt(`0x${name.slice(0, 16)}`)));
}
