import { existsSync, linkSync, rmSync, statSync, writeFileSync } from "node:fs";

const headerBytes = 8192;
const readerBytes = 64;

/**
 * The library maps its lock file and writes through the mapping: a hole in it would need a block
 * when a reader comes, and without one the process ends with SIGBUS. So the file is made here, with
 * all its blocks, before the library makes it as one large hole.
 */
export function ensureLockFile(dataPath: string, readersMax: number): void {
  const path = `${dataPath}-lock`;
  if (existsSync(path)) return;
  // Linked when it is whole: another process may open it at once.
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

/** One with holes, as earlier releases made it. Only while no process uses it. */
export function removeSparseLockFile(dataPath: string): void {
  const path = `${dataPath}-lock`;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && found.blocks * 512 < found.size) rmSync(path, { force: true });
}
