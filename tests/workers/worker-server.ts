import { Agent } from "node:http";
import { resolve } from "node:path";
import { adminHeader } from "../../src/admin/security/admin-auth.ts";
import type { WorkerFigures } from "../../src/admin/views/figures.ts";
import { startCommand, type StartedCommand } from "../cli/start-command.ts";
import { encryptionOfTests } from "../harness/test-encryption.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";

const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];

export const command = [process.execPath, resolve("bin/etagere")];
export const freePorts: readonly string[] = ports.map((name) => `--${name}Port=0`);

/** The command with two workers. */
export interface WorkerServer extends StartedCommand {
  /** The workers; throws while the admin listener is not served. */
  workers(): Promise<WorkerFigures>;
  /** Resolves when the workers are as `isReached` requires. */
  workersUntil(isReached: (workers: WorkerFigures) => boolean): Promise<WorkerFigures>;
}

/** Longer than any start of a worker, also on a busy machine. */
const waitMillisecondsMax = 150_000;
const pollMilliseconds = 20;

/** Calls `attempt` until it returns a value; undefined after `waitMillisecondsMax`. */
async function until<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  const end = performance.now() + waitMillisecondsMax;
  while (performance.now() < end) {
    const found = await attempt();
    if (found !== undefined) return found;
    await new Promise((elapsed) => setTimeout(elapsed, pollMilliseconds));
  }
  return undefined;
}

export async function startWorkers(
  location: string,
  ...flags: readonly string[]
): Promise<WorkerServer> {
  const { encryption } = encryptionOfTests();
  const encrypted = encryption === undefined ? [] : [`--encryption=${encryption}`];
  const own = ["--workers=2", `--location=${location}`, ...encrypted];
  const words = [...command, ...freePorts, ...own, ...flags];
  const server = await startCommand(words);
  const workers = async (): Promise<WorkerFigures> => {
    const path = `${server.urlOf("admin")}/admin/v1/health`;
    const response = await fetch(path, { headers: { [adminHeader]: "1", connection: "close" } });
    const { workers: found } = (await response.json()) as { workers: WorkerFigures };
    return found;
  };
  const workersUntil = async (
    isReached: (found: WorkerFigures) => boolean,
  ): Promise<WorkerFigures> => {
    const reached = await until(async () => {
      const found = await workers().catch(() => undefined);
      return found !== undefined && isReached(found) ? found : undefined;
    });
    if (reached !== undefined) return reached;
    throw new Error(`the workers did not become as expected: ${server.errors()}`);
  };
  return { ...server, workers, workersUntil };
}

/** A client that opens a connection for each request, so that any worker may get it. */
export function freshConnections(url: string): RawClient {
  return rawClient(url, new Agent({ keepAlive: false }));
}

/** Sends a request again and again until each worker has answered it. Returns all statuses. */
export async function untilAllAnswered(
  server: WorkerServer,
  send: () => Promise<number>,
): Promise<readonly number[]> {
  const before = new Map(
    (await server.workers()).processes.map((each) => [each.pid, each.requests]),
  );
  const statuses: number[] = [];
  const answered = await until(async () => {
    statuses.push(...(await Promise.all([send(), send(), send(), send()])));
    const { processes } = await server.workers();
    const isAll = processes.every(({ pid, requests }) => requests > (before.get(pid) ?? 0));
    return isAll ? statuses : undefined;
  });
  if (answered !== undefined) return answered;
  throw new Error("a worker got no request");
}
