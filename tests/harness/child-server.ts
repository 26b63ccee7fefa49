import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

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

export const portFlags: readonly string[] = ["blob", "queue", "table", "file", "smb", "admin"].map(
  (name) => `--${name}Port=0`,
);

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
  const urls = await listening(child);
  return {
    blobUrl: urls.get("Blob") ?? "",
    queueUrl: urls.get("Queue") ?? "",
    urls: {
      blob: urls.get("Blob") ?? "",
      queue: urls.get("Queue") ?? "",
      table: urls.get("Table") ?? "",
      file: urls.get("File") ?? "",
      smb: urls.get("SMB") ?? "",
    },
    pid: child.pid ?? 0,
    exited,
    kill(signal) {
      child.kill(signal);
      return exited;
    },
  } satisfies ChildServer;
}

/** The admin line is the last of a start; by then every service listens. */
export async function listening(child: ChildProcess): Promise<ReadonlyMap<string, string>> {
  if (child.stdout === null) throw new Error("the child has no standard output");
  const urls = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const up = /(\w+) (?:service|endpoint) is successfully listening at (\S+)/.exec(line);
    if (up !== null) urls.set(up[1] ?? "", up[2] ?? "");
    if (/Etagere admin is successfully listening/.test(line)) {
      child.stdout.resume();
      return urls;
    }
  }
  throw new Error("the server ended before it listened");
}
