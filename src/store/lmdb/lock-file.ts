import { existsSync, linkSync, rmSync, statSync, writeFileSync } from "node:fs";

const headerBytes = 8192;
const readerBytes = 64;

/** Creates the lock file with all its blocks allocated. The library would create it sparse, map it
 *  and write through the mapping: on a full disk the first write to a hole ends the process with
 *  SIGBUS. */
export function ensureLockFile(dataPath: string, readersMax: number): void {
  const path = `${dataPath}-lock`;
  if (existsSync(path)) return;
  // The file gets its name only when it is complete, because another process may open it at once.
  const draft = `${path}.${process.pid}`;
  try {
    const bytes = Buffer.alloc(headerBytes + readersMax * readerBytes);
    writeFileSync(draft, bytes, { mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a sparse lock file of an earlier release. Only while no process uses it. */
export function removeSparseLockFile(dataPath: string): void {
  const path = `${dataPath}-lock`;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && found.blocks * 512 < found.size) rmSync(path, { force: true });
}
