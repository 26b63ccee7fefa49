import { execFileSync, spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";

/** Folder with Docker, set by `npm run test:deploy`. */
export const runtime = process.env["ETAGERE_DEPLOY_RUNTIME"] ?? "";
/** Folder for files of this run, at the same path for Docker. */
export const work = process.env["ETAGERE_DEPLOY_WORK"] ?? "";

const waitMilliseconds = 200;
const waitMillisecondsMax = 120_000;
const outputBytesMax = 64 * 1024 * 1024;

/** Runs a program of the folder with Docker in the folder of the project. */
export function runtimeWords(...words: readonly string[]): readonly string[] {
  return [runtime, "env", "-C", process.cwd(), ...words];
}

/** Standard output of a command of Docker. Throws with its messages if it fails. */
export function docker(...words: readonly string[]): string {
  const { status, output } = tryDocker(...words);
  if (status !== 0) throw new Error(`docker ${words.join(" ")}: ${output}`);
  return output.trim();
}

export function tryDocker(...words: readonly string[]): { status: number | null; output: string } {
  const options = { encoding: "utf8", maxBuffer: outputBytesMax } as const;
  const { status, stdout, stderr } = spawnSync("chroot", runtimeWords("docker", ...words), options);
  return { status, output: status === 0 ? stdout : stdout + stderr };
}

/** Output of a program of the folder with Docker. */
export function runInRuntime(program: string, ...words: readonly string[]): string {
  const options = { encoding: "utf8", maxBuffer: outputBytesMax, stdio: "pipe" } as const;
  return execFileSync("chroot", runtimeWords(program, ...words), options);
}

/** Waits for a condition, whose exceptions count as false. */
export async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < waitMillisecondsMax; waited += waitMilliseconds) {
    if (await Promise.resolve(test()).catch(() => false)) return;
    await setTimeout(waitMilliseconds);
  }
  throw new Error(`${what}: not after ${waitMillisecondsMax} ms`);
}

export function healthOf(container: string): string {
  return docker("inspect", "--format", "{{.State.Health.Status}}", container);
}
