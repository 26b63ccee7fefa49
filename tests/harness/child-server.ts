import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { awaitUrls } from "./startup-lines.ts";

/** A server in a child process, which tests can kill. */
export interface ChildServer {
  readonly blobUrl: string;
  readonly queueUrl: string;
  /** URLs of all services, by name. */
  readonly urls: Readonly<Record<"blob" | "queue" | "table" | "file" | "smb", string>>;
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>;
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<Exit>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The program under test; the environment may name another build. */
export const program =
  process.env["ETAGERE_TEST_PROGRAM"] ?? join(import.meta.dirname, "../../bin/etagere");

export const portFlags: readonly string[] = [
  "blob",
  "queue",
  "table",
  "file",
  "dfs",
  "smb",
  "admin",
].map((name) => `--${name}Port=0`);

function spawnServer(location: string, flags: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, `--location=${location}`, ...portFlags, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** A server that is killed during its start. */
export async function startAndKill(location: string, milliseconds: number): Promise<void> {
  const child = spawnServer(location, []);
  const exited = once(child, "exit");
  setTimeout(() => child.kill("SIGKILL"), milliseconds);
  await exited;
}

export async function startChild(location: string, flags: readonly string[] = []) {
  const child = spawnServer(location, flags);
  const exited: Promise<Exit> = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const urls = await awaitUrls(child);
  return {
    blobUrl: urls.get("blob") ?? "",
    queueUrl: urls.get("queue") ?? "",
    urls: {
      blob: urls.get("blob") ?? "",
      queue: urls.get("queue") ?? "",
      table: urls.get("table") ?? "",
      file: urls.get("file") ?? "",
      smb: urls.get("smb") ?? "",
    },
    pid: child.pid ?? 0,
    exited,
    kill(signal) {
      child.kill(signal);
      return exited;
    },
  } satisfies ChildServer;
}
