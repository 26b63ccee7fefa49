import { rawClient } from "../harness/raw-client.ts";
import { KillClient } from "../kill/kill-client.ts";
import { killWorkloads } from "../kill/kill-run.ts";
import type { Clients } from "../kill/kill-workload.ts";
import { randomFrom } from "../verify/random.ts";
import { treeAccount } from "../verify/wire.ts";
import { startWorkers, type WorkerServer } from "./worker-server.ts";

export interface WorkerKillOptions {
  readonly location: string;
  readonly kills: number;
  /** Acknowledged writes before and after each kill. */
  readonly requestsPerKill: number;
  readonly clientsPerWorkload: number;
  readonly seed: number;
}

export interface WorkerKillResult {
  readonly kills: number;
  readonly acknowledgedWrites: number;
  /** Responses after a kill, before the replacement was awaited. */
  readonly continuedWrites: number;
  readonly problems: readonly string[];
  readonly exitCode: number | null;
}

const objectsPerClient = 3;
const retryMilliseconds = 20;
/** Not the one that needs a second account: with it the admin API would require a login. */
const workloads = killWorkloads.filter(({ name }) => name !== "paths");

/** A container whose metadata the clients write. */
const settled = "/settled?restype=container";

class RoundEnded extends Error {
  override readonly name = "RoundEnded";
}

/**
 * Clients of all services write to one server with two workers, and one worker is killed: at first
 * the second one, then the first, which serves SMB and the admin listener, then one at random. The
 * other worker continues to serve, and every acknowledged write is kept.
 */
export async function runWorkerKills(options: WorkerKillOptions): Promise<WorkerKillResult> {
  const { location, kills, seed, clientsPerWorkload } = options;
  const random = randomFrom(seed);
  const server = await startWorkers(location, "--silent");
  const clients = workloads.flatMap((workload) =>
    Array.from(
      { length: clientsPerWorkload },
      (_, index) => new KillClient(workload, `client${index}`, objectsPerClient),
    ),
  );
  let problems: readonly string[] = [];
  let continuedWrites = 0;
  let done = 0;
  try {
    const container = await clientsAt(server).blob.send({ method: "PUT", path: settled });
    if (container.status !== 201) throw new Error(`PUT ${settled}: ${container.status}`);
    for (const workload of workloads) await workload.setUp(clientsAt(server));
    for (; done < kills && problems.length === 0; done += 1) {
      const slot = done < 2 ? 1 - done : random.below(2);
      continuedWrites += await killUnderLoad(server, clients, slot, options.requestsPerKill);
      const isReplaced = done + 1;
      await server.workersUntil(
        ({ processes, restarts }) => processes.length === 2 && restarts >= isReplaced,
      );
      const found = await Promise.all(clients.map((client) => checkAfterLoss(client, server)));
      problems = found.flat();
    }
  } finally {
    const exitCode = await server.end();
    if (exitCode !== 0) problems = [...problems, `exit code ${exitCode}: ${server.errors()}`];
  }
  const acknowledgedWrites = clients.reduce((sum, each) => sum + each.acknowledgedWrites, 0);
  return { kills: done, acknowledgedWrites, continuedWrites, problems, exitCode: 0 };
}

/** Returns how many writes were acknowledged after the kill. */
async function killUnderLoad(
  server: WorkerServer,
  clients: readonly KillClient[],
  slot: number,
  requestsPerKill: number,
): Promise<number> {
  const { processes } = await server.workers();
  const victim = processes[slot]?.pid ?? 0;
  let acknowledged = 0;
  const onAcknowledged = (): void => {
    acknowledged += 1;
    if (acknowledged === requestsPerKill) process.kill(victim, "SIGKILL");
    if (acknowledged >= 2 * requestsPerKill) throw new RoundEnded();
  };
  const runs = clients.map(async (client) => {
    try {
      for (;;) await continueAfterLoss(client, server, onAcknowledged);
    } catch (error) {
      if (!(error instanceof RoundEnded)) throw error;
    }
  });
  await Promise.all(runs);
  return acknowledged - requestsPerKill;
}

/** A client that loses its connection reads what became of its write, and continues. */
async function continueAfterLoss(
  client: KillClient,
  server: WorkerServer,
  onAcknowledged: () => void,
): Promise<void> {
  await client.run(clientsAt(server), onAcknowledged);
  const problems = await checkAfterLoss(client, server);
  if (problems.length > 0) throw new Error(`PUT: 500 ${problems.join("; ")}`);
}

/** The connections to the killed worker end one after the other, and SMB is served again later:
 *  checks again until all requests of a check are answered. */
async function checkAfterLoss(
  client: KillClient,
  server: WorkerServer,
): Promise<readonly string[]> {
  for (;;) {
    try {
      await settleWrites(server);
      return await client.check(clientsAt(server));
    } catch (error) {
      if (/: 500 /.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
    }
  }
}

/**
 * Makes the last write of a killed worker visible, if it is executed at all. If a worker is killed
 * after it has written a commit and before it has announced it to readers, the next commit does
 * so.
 */
async function settleWrites(server: WorkerServer): Promise<void> {
  const call = { method: "PUT", path: `${settled}&comp=metadata` };
  const { status } = await clientsAt(server).blob.send(call);
  if (status !== 200) throw new Error(`PUT ${call.path}: ${status}`);
}

function clientsAt(server: WorkerServer): Clients {
  return {
    blob: rawClient(server.urlOf("blob")),
    tree: rawClient(server.urlOf("blob"), undefined, treeAccount),
    table: rawClient(server.urlOf("table")),
    queue: rawClient(server.urlOf("queue")),
    file: rawClient(server.urlOf("file")),
    fileUrl: server.urlOf("file"),
    smbUrl: server.urlOf("smb"),
  };
}
