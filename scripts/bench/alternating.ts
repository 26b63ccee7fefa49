import { processCpuMicroseconds } from "./process-figures.ts";
import type { Server } from "./servers.ts";
import { targetAt, type Client } from "./target.ts";

/** One of the servers that are compared. */
export interface Compared {
  readonly name: string;
  /** Send requests at the same time. */
  readonly clients: readonly Client[];
  /** CPU time that the server has taken so far. */
  readonly cpuMicroseconds: () => number;
}

export interface Operation {
  readonly name: string;
  readonly requestsPerRound: number;
  readonly run: (client: Client, index: number) => Promise<unknown>;
}

const clientsCount = 16;
const quarter = 0.25;

/** A server in this process. */
export function comparedInProcess(name: string, client: Client): Compared {
  const clients = Array.from({ length: clientsCount }, () => client);
  const cpuMicroseconds = (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  };
  return { name, clients, cpuMicroseconds };
}

/** A server process, with its sockets. */
export async function comparedServer(name: string, server: Server): Promise<Compared> {
  const target = targetAt(server.address);
  const clients = Array.from({ length: clientsCount }, () => target.connect("blob"));
  await Promise.all(clients.map((client) => client.open()));
  return { name, clients, cpuMicroseconds: () => processCpuMicroseconds(server.pid) };
}

/** Prints the CPU time per request of each server, and how much more it is than that of the first
 *  one. The servers take turns, so that load of the machine affects them alike. The difference is
 *  the median over rounds; its quartiles show the noise. Without rounds the operations run once, to
 *  store what others read. */
export async function compareAlternating(
  servers: readonly Compared[],
  operations: readonly Operation[],
  rounds: number,
): Promise<void> {
  for (const operation of operations) {
    const costs = servers.map((): number[] => []);
    for (const server of servers) await measure(server, operation);
    for (let round = 0; round < rounds; round += 1) {
      const order = [...servers.keys()].map((index) => (index + round) % servers.length);
      for (const index of order) {
        costs[index]?.push(await measure(servers[index]!, operation));
      }
    }
    if (rounds === 0) continue;
    const [first = []] = costs;
    console.log(`${operation.name}: ${servers[0]?.name} ${quantile(first, 0.5).toFixed(1)} µs`);
    for (const [index, { name }] of servers.entries()) {
      if (index === 0) continue;
      const more = (costs[index] ?? []).map((cost, round) => cost - (first[round] ?? 0));
      const shares = [quarter, 0.5, 1 - quarter].map((at) => quantile(more, at));
      const [low, middle, high] = shares.map((each) => each.toFixed(1));
      const percent = ((100 * (shares[1] ?? 0)) / quantile(first, 0.5)).toFixed(1);
      console.log(`  ${name}: ${middle} µs more (${low} to ${high}), ${percent} %`);
    }
  }
}

/** CPU microseconds per request. */
async function measure(server: Compared, { run, requestsPerRound }: Operation): Promise<number> {
  const before = server.cpuMicroseconds();
  let next = 0;
  const work = async (client: Client): Promise<void> => {
    while (next < requestsPerRound) {
      next += 1;
      await run(client, next);
    }
  };
  await Promise.all(server.clients.map(work));
  return (server.cpuMicroseconds() - before) / requestsPerRound;
}

function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * at)] ?? Number.NaN;
}
