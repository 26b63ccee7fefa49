import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const mebibyte = 1024 * 1024;

/** A folder with files of every kind that has caused problems. */
export function makeTree(): string {
  const folder = mkdtempSync(join(tmpdir(), "etagere-tree-"));
  const files: Readonly<Record<string, Buffer>> = {
    empty: Buffer.alloc(0),
    "small.txt": Buffer.from("small\n"),
    "large.bin": randomBytes(9 * mebibyte + 7),
    "sub/deep/er/file": randomBytes(4097),
    "sub/with space and ü & % + #": Buffer.from("odd name"),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  return folder;
}

/** Relative paths and checksums of all files below a folder. */
export function sumsOf(folder: string): Readonly<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    sums[relative(folder, path)] = createHash("md5").update(readFileSync(path)).digest("hex");
  }
  return sums;
}

export interface Program {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
}

const outputBytesMax = 16 * mebibyte;
const programSecondsMax = 120;

const execute = promisify(execFile);

/**
 * Standard output of a program; rejects if the program fails. Asynchronous, because the server it
 * uses runs in this process.
 */
export async function runProgram(
  { name, environment }: Program,
  words: readonly string[],
): Promise<string> {
  const { stdout } = await execute(name, words, {
    encoding: "utf8",
    env: { ...process.env, ...environment },
    maxBuffer: outputBytesMax,
    timeout: programSecondsMax * 1000,
  });
  return stdout;
}
