import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface StartedCommand {
  readonly child: ChildProcess;
  /** What was printed on standard output until now. */
  readonly lines: readonly string[];
  /** What was printed on standard error until now. */
  errors(): string;
  urlOf(service: string): string;
  /** Asks it to end and resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface CommandOptions {
  readonly folder?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs the command as a user does and waits until it really listens. */
export async function startCommand(
  words: readonly string[],
  { folder, environment }: CommandOptions = {},
): Promise<StartedCommand> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: npx passes no signals on to what it runs.
    detached: true,
  });
  const lines: string[] = [];
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, "close");
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      if (line.startsWith("Etagere admin is successfully listening")) resolve();
    });
    ended.then(([code]) => reject(new Error(`ended with ${String(code)}: ${errors}`)), reject);
  });
  return {
    child,
    lines,
    errors: () => errors,
    urlOf(service) {
      const line = lines.find((one) => one.includes(service) && one.includes("successfully"));
      return line?.split(" ").at(-1) ?? "";
    },
    async end(signal = "SIGTERM") {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
