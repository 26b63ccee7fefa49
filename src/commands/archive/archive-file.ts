import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import type { ExportReport } from "./export-accounts.ts";
import type { ArchiveSink } from "./frame-writer.ts";
import type { LoadReport } from "./load-archive.ts";
import type { ServerArchives } from "./server-archives.ts";

export interface ExportFileOptions {
  /** Names of accounts; default: all. */
  readonly accounts?: readonly string[];
  /** Whether keys of stored accounts are included; default: they are not. */
  readonly withKeys?: boolean;
}

export interface LoadFileOptions {
  /** Name of the target account if the archive has one account; default: the archived name. */
  readonly as?: string;
  /** Whether the present data of the accounts is deleted; default: such accounts are refused. */
  readonly replace?: boolean;
}

const chunkBytes = 1024 * 1024;
const ownerOnly = 0o600;

/** Writes to a stream, and waits while it accepts no more. */
export function sinkTo(target: Writable): ArchiveSink {
  let failure: Error | undefined;
  target.once("error", (error) => (failure = error));
  return async (bytes) => {
    if (failure !== undefined) throw failure;
    if (!target.write(bytes)) await once(target, "drain");
  };
}

/** Writes an archive to a file: first under a temporary name, so that a file with the chosen name
 *  is always complete. Only its owner may read it. */
export async function writeArchiveFile<T>(
  path: string,
  write: (sink: ArchiveSink) => Promise<T>,
): Promise<T> {
  const draft = `${path}.incomplete`;
  await rm(draft, { force: true });
  const file = createWriteStream(draft, { flush: true, mode: ownerOnly });
  try {
    await once(file, "open");
    const result = await write(sinkTo(file));
    file.end();
    await once(file, "close");
    await rename(draft, path);
    return result;
  } catch (error) {
    file.destroy();
    await rm(draft, { force: true });
    throw error;
  }
}

export function openArchiveFile(path: string): Readable {
  return createReadStream(path, { highWaterMark: chunkBytes });
}

export function exportToFile(
  archives: ServerArchives,
  file: string,
  { accounts = [], withKeys = false }: ExportFileOptions = {},
): Promise<ExportReport> {
  return writeArchiveFile(file, (sink) => archives.export({ accounts, withKeys, sink }));
}

export function loadFromFile(
  archives: ServerArchives,
  file: string,
  { as, replace = false }: LoadFileOptions = {},
): Promise<LoadReport> {
  return archives.load(openArchiveFile(file), { as, replace });
}
