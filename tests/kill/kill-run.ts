import { performance } from "node:perf_hooks";
import type { FolderReport } from "../../src/commands/folder-check/check-folder.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { startAndKill, startChild, type ChildServer } from "../harness/child-server.ts";
import { accountsOption } from "../verify/accounts-file.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import { clientsOf } from "./clients-of.ts";
import type { Clients } from "./kill-workload.ts";
import { appendBlob } from "./workloads/append-blob.ts";
import { blockBlob } from "./workloads/block-blob.ts";
import { entity } from "./workloads/entity.ts";
import { files } from "./workloads/files.ts";
import { messages } from "./workloads/messages.ts";
import { pageBlob } from "./workloads/page-blob.ts";
import { partition } from "./workloads/partition.ts";
import { paths } from "./workloads/paths.ts";
import { smbFiles } from "./workloads/smb-files.ts";
import { KillClient } from "./kill-client.ts";

export const killWorkloads = [
  blockBlob,
  appendBlob,
  pageBlob,
  partition,
  entity,
  messages,
  files,
  paths,
  smbFiles,
];

export interface KillRunOptions {
  readonly location: string;
  readonly kills: number;
  /** Responses between two kills. */
  readonly requestsPerKill: number;
  /** Processes on one folder; all are killed at the same time. */
  readonly servers: number;
  readonly seed: number;
  readonly onRound?: (line: string) => void;
}

export interface KillRunResult {
  readonly kills: number;
  readonly acknowledgedWrites: number;
  readonly byWorkload: ReadonlyMap<string, number>;
  /** What the last check found. */
  readonly lastCheck: FolderReport | undefined;
  /** Problems of the first round that had any. */
  readonly problems: readonly string[];
}

const clientsPerDoor = 3;
const objectsPerClient = 4;
const startMillisecondsMax = 800;
const killsWhileStarting = 0.25;
/** Some rounds are long enough for compaction to run. */
const roundsPerLongOne = 8;
const longRoundMilliseconds = 13_000;

/**
 * Clients of all services write; all processes are killed; the folder is checked, served and
 * checked again.
 */
export async function runKills(options: KillRunOptions): Promise<KillRunResult> {
  const { location, kills, requestsPerKill, seed, onRound } = options;
  const random = randomFrom(seed);
  const clients = killWorkloads.flatMap((workload) =>
    Array.from(
      { length: clientsPerDoor },
      (_, index) => new KillClient(workload, `client${index}`, objectsPerClient),
    ),
  );
  let servers = await startAll(options);
  for (const workload of killWorkloads) await workload.setUp(clientsAt(servers, 0));
  let done = 0;
  let lastCheck: FolderReport | undefined;
  let problems: readonly string[] = [];
  for (let round = 1; done < kills && problems.length === 0; round += 1) {
    const answers = requestsPerKill + random.below(requestsPerKill / 4);
    const milliseconds = round % roundsPerLongOne === 0 ? longRoundMilliseconds : 0;
    try {
      await writeUntil(clients, servers, { answers, milliseconds });
    } catch (error) {
      await Promise.all(servers.map((server) => server.kill("SIGKILL")));
      throw error;
    }
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    done += 1;
    done += await killWhileStarting(options, random);
    lastCheck = await checkFolder({ location, clock: realClock(), log: silentLog });
    servers = await startAll(options);
    const found = await Promise.all(
      clients.map((client, index) => client.check(clientsAt(servers, index))),
    );
    problems = [...lastCheck.problems, ...found.flat()];
    onRound?.(`${done} kills, ${total(clients)} writes, ${problems.length} problems`);
  }
  await Promise.all(servers.map((server) => server.kill("SIGTERM")));
  const byDoor = new Map<string, number>();
  for (const { workload, acknowledgedWrites } of clients) {
    byDoor.set(workload, (byDoor.get(workload) ?? 0) + acknowledgedWrites);
  }
  const acknowledgedWrites = total(clients);
  return { kills: done, acknowledgedWrites, byWorkload: byDoor, lastCheck, problems };
}

async function startAll({ location, servers }: KillRunOptions): Promise<readonly ChildServer[]> {
  const started: ChildServer[] = [];
  while (started.length < servers) {
    started.push(await startChild(location, [accountsOption(location)]));
  }
  return started;
}

function clientsAt(servers: readonly ChildServer[], index: number): Clients {
  return clientsOf(servers[index % servers.length]!);
}

/** Resolves while all clients write, or when one gets an error response. */
function writeUntil(
  clients: readonly KillClient[],
  servers: readonly ChildServer[],
  enough: { readonly answers: number; readonly milliseconds: number },
): Promise<void> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    let answers = 0;
    const onAcknowledged = (): void => {
      answers += 1;
      const isLate = performance.now() - began >= enough.milliseconds;
      if (answers >= enough.answers && isLate) resolve();
    };
    for (const [index, client] of clients.entries()) {
      client.run(clientsAt(servers, index), onAcknowledged).catch(reject);
    }
  });
}

/** Some servers are killed during their start. */
async function killWhileStarting(options: KillRunOptions, random: Random): Promise<number> {
  if (!random.chance(killsWhileStarting)) return 0;
  await startAndKill(options.location, random.below(startMillisecondsMax));
  return 1;
}

function total(clients: readonly KillClient[]): number {
  return clients.reduce((sum, { acknowledgedWrites }) => sum + acknowledgedWrites, 0);
}
