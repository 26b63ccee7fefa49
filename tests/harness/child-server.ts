import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A server in a process of its own, so that it can be killed like any other program. */
export interface ChildServer {
  readonly blobUrl: string;
  readonly pid: number;
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

const command = join(import.meta.dirname, "../../bin/etagere");

export async function startChild(location: string, flags: readonly string[] = []) {
  const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
  const child = spawn(process.execPath, [command, `--location=${location}`, ...ports, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const blobUrl = await listening(child);
  return {
    blobUrl,
    pid: child.pid ?? 0,
    async kill(signal) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  } satisfies ChildServer;
}

/** The last line of a start is the admin's; by then every service listens. */
async function listening(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("the child has no standard output");
  let blobUrl = "";
  for await (const line of createInterface({ input: child.stdout })) {
    const blob = /Blob service is successfully listening at (\S+)/.exec(line)?.[1];
    if (blob !== undefined) blobUrl = blob;
    if (/Etagere admin is successfully listening/.test(line)) {
      child.stdout.resume();
      return blobUrl;
    }
  }
  throw new Error("the server ended before it listened");
}
