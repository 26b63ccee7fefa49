import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Contents by path relative to the folder, with `/`. */
export type EmbeddedFiles = ReadonlyMap<string, Uint8Array>;

/** Another start may replace the same damaged folder meanwhile. */
const attemptsMax = 5;

/**
 * Writes the files into a subfolder of `cache` and returns its path. The subfolder is named by the
 * contents and appears with all files at once, so that any number of processes may start together.
 * An existing one is used only if every file has the expected bytes.
 */
export function extractFiles(cache: string, files: EmbeddedFiles): string {
  const folder = join(cache, nameOf(files));
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (isComplete(folder, files)) return folder;
    replace(folder, files);
  }
  if (isComplete(folder, files)) return folder;
  throw new Error(`${folder} does not keep the files that were written to it`);
}

function nameOf(files: EmbeddedFiles): string {
  const hash = createHash("sha256");
  for (const [name, bytes] of files) {
    hash.update(`${name}\n${bytes.length}\n`);
    hash.update(bytes);
  }
  return hash.digest("hex").slice(0, 32);
}

function isComplete(folder: string, files: EmbeddedFiles): boolean {
  try {
    // A link could be pointed elsewhere after the comparison.
    if (!lstatSync(folder).isDirectory()) return false;
    return [...files].every(([name, bytes]) => {
      const path = join(folder, name);
      return lstatSync(path).isFile() && readFileSync(path).equals(bytes);
    });
  } catch {
    return false;
  }
}

function replace(folder: string, files: EmbeddedFiles): void {
  const own = `${folder}.${process.pid}-${randomBytes(6).toString("hex")}`;
  try {
    writeFiles(own, files);
    moveAway(folder, `${own}-damaged`);
    renameSync(own, folder);
  } catch (error) {
    // Another process was first; the caller checks what it wrote.
    if (!isTaken(error)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
    rmSync(`${own}-damaged`, { recursive: true, force: true });
  }
}

function writeFiles(folder: string, files: EmbeddedFiles): void {
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
  }
}

function moveAway(folder: string, to: string): void {
  try {
    renameSync(folder, to);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function isTaken(error: unknown): boolean {
  return ["ENOTEMPTY", "EEXIST", "EPERM"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
