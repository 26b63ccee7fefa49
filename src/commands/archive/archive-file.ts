import { once } from "node:events";
import { constants, createReadStream, createWriteStream, openSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Random } from "../../base/world.ts";
import { readMasterKey } from "../../host/master-key.ts";
import { decryptedArchive, encryptingSink } from "./archive-cipher.ts";
import type { ExportReport } from "./export-accounts.ts";
import type { ArchiveSink } from "./archive-format.ts";
import type { LoadReport } from "./load-archive.ts";
import type { ServerArchives } from "./server-archives.ts";

/** Writes and reads archives as files, encrypted or not, for programs and for the commands export
 *  and load. */

/** The options of `server.export()`, with which programs write an archive. */
export interface ExportFileOptions {
  /** Names of the accounts to export; default: all. */
  readonly accounts?: readonly string[];
  /** Whether keys of stored accounts are included; default: they are not. */
  readonly withKeys?: boolean;
  /** Source of the master key that encrypts the archive: `file:PATH`, `env:NAME` or
   *  `command:COMMAND`. Default: the master key of the data, if it is encrypted. */
  readonly archiveKey?: string;
  /** Whether the archive of encrypted data is plain text; default: it is encrypted. */
  readonly plain?: boolean;
}

/** The options of `server.load()`, with which programs load an archive. */
export interface LoadFileOptions {
  /** Name of the target account if the archive has one account; default: the archived name. */
  readonly as?: string;
  /** Whether the present data of the accounts is deleted. Default: accounts with data are
   *  refused. */
  readonly replace?: boolean;
  /** Source of the master key of an encrypted archive; default: that of the data. */
  readonly archiveKey?: string;
}

const chunkBytes = 1024 * 1024;
const ownerOnly = 0o600;

/** Returns a sink that writes to a stream, and waits while the stream accepts no more. */
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

/** Opens an archive, which may be a FIFO. */
export function openArchiveFile(path: string): Readable {
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) return openFifo(path);
  return createReadStream(path, { highWaterMark: chunkBytes });
}

/** Opens a FIFO without waiting for its writer. An open that waits would occupy a thread, for which
 *  the process waits before it ends, also after a signal. A socket waits for the writer in the
 *  event loop. */
function openFifo(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Passes the bytes that `write` writes on to `sink`, encrypted if there is a master key. The
 *  report then has the length of the encrypted archive. */
export async function writeEncrypted(
  sink: ArchiveSink,
  master: Uint8Array | undefined,
  random: Random,
  write: (sink: ArchiveSink) => Promise<ExportReport>,
): Promise<ExportReport> {
  if (master === undefined) return write(sink);
  let archiveBytes = 0;
  const counting: ArchiveSink = (bytes) => {
    archiveBytes += bytes.length;
    return sink(bytes);
  };
  const encrypting = encryptingSink(counting, { master, random });
  const report = await write(encrypting.write);
  await encrypting.end();
  return { ...report, archiveBytes };
}

interface FileArchives {
  readonly archives: ServerArchives;
  readonly random: Random;
  /** Where to read the master key of the server's data; undefined if the data is not encrypted. */
  readonly encryption: string | undefined;
}

/** Carries out `server.export()`: writes an archive file. */
export async function exportToFile(
  { archives, random, encryption }: FileArchives,
  file: string,
  { accounts = [], withKeys = false, archiveKey, plain = false }: ExportFileOptions = {},
): Promise<ExportReport> {
  const source = archiveKey ?? (plain ? undefined : encryption);
  const master = source === undefined ? undefined : await readMasterKey(source, "archiveKey");
  return writeArchiveFile(file, (target) =>
    writeEncrypted(target, master, random, (sink) => archives.export({ accounts, withKeys, sink })),
  );
}

/** Carries out `server.load()`: loads an archive file. */
export async function loadFromFile(
  { archives, encryption }: Omit<FileArchives, "random">,
  file: string,
  { as, replace = false, archiveKey = encryption }: LoadFileOptions = {},
): Promise<LoadReport> {
  return archives.load(openPlain(openArchiveFile(file), archiveKey), { as, replace });
}

/** Returns the bytes of an archive, decrypted if it is encrypted and there is a key. Without a key
 *  the reader of the archive (`readFrames`) refuses it. */
export function openPlain(
  archive: AsyncIterable<Uint8Array>,
  keySource: string | undefined,
): AsyncIterable<Uint8Array> {
  if (keySource === undefined) return archive;
  return decryptedArchive(archive, () => readMasterKey(keySource, "--archiveKey"));
}
