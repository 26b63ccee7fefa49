// Runs commands, and gives them a folder. Throws `Missing` for an unavailable tool or package.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export class Missing extends Error {}

export function execute(command, words, options) {
  const { status, signal, error } = spawnSync(command, words, { stdio: "inherit", ...options });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${command} ${words.join(" ")}: ended with ${status ?? signal}`);
}

export function need(command, words, options) {
  try {
    execute(command, words, { stdio: ["ignore", "ignore", "inherit"], ...options });
  } catch (error) {
    throw new Missing(error.message, { cause: error });
  }
}

/** Starts a process that does not outlive this one, and resolves with its exit code or signal. */
export async function executeInBackground(command, words, options) {
  const child = spawn(command, words, options);
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  try {
    return await new Promise((done, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => done(code ?? signal));
    });
  } finally {
    process.off("exit", kill);
  }
}

/**
 * Runs a suite in the folder that the user gave, or in a temporary one. That is deleted if the
 * results are as expected; otherwise it stays, because it has the logs.
 */
export async function inWorkFolder(folder, run) {
  const work = folder ?? mkdtempSync(join(tmpdir(), "etagere-suite-"));
  mkdirSync(work, { recursive: true });
  let isOver = false;
  try {
    const isAsExpected = await run(work);
    isOver = isAsExpected;
    return isAsExpected;
  } catch (error) {
    isOver = error instanceof Missing;
    throw error;
  } finally {
    if (folder === undefined && isOver) rmSync(work, { recursive: true, force: true });
    else console.log(`results and logs: ${work}`);
  }
}

/** The words of a suite's command line: names of `known`, `--test PATTERN`, `--work FOLDER`. */
export function suiteOptions(known, words) {
  const names = [];
  const values = {};
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === "--test" || word === "--work") {
      index += 1;
      if (words[index] === undefined) throw new Error(`${word}: the value is missing`);
      values[word] = words[index];
    } else if (known.includes(word)) names.push(word);
    else throw new Error(`"${word}" is unknown; there are ${known.join(", ")}`);
  }
  const folder = values["--work"] === undefined ? undefined : resolve(values["--work"]);
  return { names: names.length > 0 ? names : known, pattern: values["--test"] ?? "", folder };
}
