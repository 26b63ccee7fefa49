import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { awaitUrls } from "../harness/startup-lines.ts";

export interface StartedCommand {
  readonly child: ChildProcess;
  /** Standard output so far. */
  readonly lines: readonly string[];
  /** Standard error so far. */
  errors(): string;
  urlOf(service: string): string;
  /** Sends a signal and resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface CommandOptions {
  readonly folder?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs the command as a user does and waits until it listens. */
export async function startCommand(
  words: readonly string[],
  { folder, environment }: CommandOptions = {},
): Promise<StartedCommand> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, because npx does not forward signals.
    detached: true,
  });
  const lines: string[] = [];
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, "close");
  const failed = ended.then(([code]) => {
    throw new Error(`ended with ${String(code)}: ${errors}`);
  });
  failed.catch(() => {});
  const urls = await awaitUrls(child, (line) => lines.push(line)).catch(() => failed);
  return {
    child,
    lines,
    errors: () => errors,
    urlOf: (service) => urls.get(service.toLowerCase()) ?? "",
    async end(signal = "SIGTERM") {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
