import { execFileSync, spawnSync } from "node:child_process";

/** Folder with Docker, set by `npm run test:deploy`. */
export const runtime = process.env["ETAGERE_DEPLOY_RUNTIME"] ?? "";
/** Folder for files of this run, at the same path for Docker. */
export const work = process.env["ETAGERE_DEPLOY_WORK"] ?? "";

const outputBytesMax = 64 * 1024 * 1024;
/** A call that waits for its process also stops the timers of vitest. */
const commandMillisecondsMax = 1_800_000;

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
  const options = {
    encoding: "utf8",
    maxBuffer: outputBytesMax,
    timeout: commandMillisecondsMax,
  } as const;
  const { status, stdout, stderr } = spawnSync("chroot", runtimeWords("docker", ...words), options);
  return { status, output: status === 0 ? stdout : stdout + stderr };
}

/** Output of a program of the folder with Docker. */
export function runInRuntime(program: string, ...words: readonly string[]): string {
  const options = {
    encoding: "utf8",
    maxBuffer: outputBytesMax,
    stdio: "pipe",
    timeout: commandMillisecondsMax,
  } as const;
  return execFileSync("chroot", runtimeWords(program, ...words), options);
}

export function healthOf(container: string): string {
  return docker("inspect", "--format", "{{.State.Health.Status}}", container);
}
