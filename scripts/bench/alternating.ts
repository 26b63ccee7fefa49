import type { Client } from "./target.ts";

/** One of the servers that are compared. */
export interface Compared {
  readonly name: string;
  readonly client: Client;
}

export interface Operation {
  readonly name: string;
  readonly requestsPerRound: number;
  readonly run: (client: Client, index: number) => Promise<unknown>;
}

const clients = 16;
const quarter = 0.25;

/** Prints the CPU time per request of each server, and how much more it is than that of the first
 *  one. All servers are in this process and take turns, so that load of the machine affects them
 *  alike. The difference is the median over rounds; its quartiles show the noise. */
export async function compareAlternating(
  servers: readonly Compared[],
  operations: readonly Operation[],
  rounds: number,
): Promise<void> {
  for (const operation of operations) {
    const costs = servers.map((): number[] => []);
    for (const { client } of servers) await measure(client, operation);
    for (let round = 0; round < rounds; round += 1) {
      const order = [...servers.keys()].map((index) => (index + round) % servers.length);
      for (const index of order) {
        costs[index]?.push(await measure(servers[index]!.client, operation));
      }
    }
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
async function measure(client: Client, { run, requestsPerRound }: Operation): Promise<number> {
  const before = process.cpuUsage();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requestsPerRound) {
      next += 1;
      await run(client, next);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * at)] ?? Number.NaN;
}
