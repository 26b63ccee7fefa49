import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portFlags, program } from "../harness/child-server.ts";
import { slownessOf, yardsticks } from "../harness/machine-speed.ts";
import { awaitUrls } from "../harness/startup-lines.ts";

/** No single request or disconnect may block the event loop for longer. */
export const stallMillisecondsMax = 100;

/** The longest iteration of the server's event loop during an action. */
export interface Stall {
  /** CPU time scaled to the machine of the `bench:guard` baseline; compared with the limit. */
  readonly milliseconds: number;
  /** CPU time as measured. */
  readonly cpuMilliseconds: number;
  /** Memory of the server at the end of the action. */
  readonly residentBytes: number;
}

export type StallService = "blob" | "queue" | "table" | "file" | "smb";

/** A server in a child process whose event loop is measured. */
export interface StallServer {
  readonly urls: Readonly<Record<StallService, string>>;
  readonly pid: number;
  /**
   * Runs the action, waits until the server is idle, and returns its longest stall. Preparation
   * (data, connections) belongs before it.
   */
  measure(action: () => Promise<unknown>): Promise<Stall>;
  /** Blocks the server's loop for 150 ms of CPU time. */
  hold(): Promise<void>;
  stop(): Promise<void>;
}

export interface StallServerOptions {
  readonly flags?: readonly string[];
  /** Such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
}

/** Starts the built server (`npm run build`) on free ports with its own data folder. */
export async function startStallServer({
  flags = [],
  nodeFlags = [],
}: StallServerOptions = {}): Promise<StallServer> {
  const folder = mkdtempSync(join(tmpdir(), "etagere-stalls-"));
  const probe = join(import.meta.dirname, "loop-probe.mjs");
  const words = ["--expose-gc", "--import", probe, ...nodeFlags, program, `--location=${folder}`];
  const child = spawn(process.execPath, [...words, ...portFlags, ...flags], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const urls = await awaitUrls(child);
  return {
    urls: Object.fromEntries(urls) as StallServer["urls"],
    pid: child.pid ?? 0,
    measure: (action) => measure(child, action),
    hold: async () => {
      await ask(child, "hold");
    },
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function measure(child: ChildProcess, action: () => Promise<unknown>): Promise<Stall> {
  const sticks = yardsticks();
  await ask(child, "begin");
  await action();
  const { cpuMilliseconds, residentBytes } = (await ask(child, "end")) as Omit<
    Stall,
    "milliseconds"
  >;
  const slowness = slownessOf([...sticks, ...yardsticks()]);
  return { milliseconds: cpuMilliseconds / slowness, cpuMilliseconds, residentBytes };
}

async function ask(child: ChildProcess, message: "begin" | "end" | "hold"): Promise<unknown> {
  const answered = once(child, "message");
  child.send(message);
  const [answer] = await answered;
  return answer;
}
