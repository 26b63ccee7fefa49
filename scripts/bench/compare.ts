import { Generator } from "./generating.ts";
import type { Run } from "./measure.ts";
import { anonymousMegabytesOf, cpuSecondsOf } from "./process-figures.ts";
import type { Scenario, Site } from "./scenarios/scenario.ts";
import type { Server } from "./servers.ts";

export interface Participant {
  readonly server: Server;
  readonly site: Site;
  /** Whether container and objects exist already. */
  readonly filled: boolean;
}

/** Medians over the rounds of one operation on one server. */
export interface Figures {
  readonly server: string;
  readonly perSecond: number;
  /** Per round, in order. */
  readonly rounds: readonly number[];
  readonly medianMilliseconds: number;
  readonly p99Milliseconds: number;
  readonly cpuMicrosecondsPerRequest: number;
  readonly anonymousMegabytes: number;
  /** Steps of the slowest connection divided by the mean, over all rounds. */
  readonly slowestShare: number;
  readonly callersShare: number;
  readonly errors: number;
  readonly problem?: string | undefined;
}

export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
}

interface Round extends Run {
  readonly cpuMicrosecondsPerRequest: number;
}

/** Few: if a server needs 1 s per step, 64 concurrent ones take a minute. */
const warmUpConnectionsMax = 8;

/** Rounds alternate between the servers, because the speed of the machine drifts. */
export async function compare(
  scenario: Scenario,
  participants: readonly Participant[],
  load: Rounds,
): Promise<readonly Figures[]> {
  const generator = new Generator(scenario.name);
  const problems = new Map<string, string>();
  const rounds = new Map<string, Round[]>();
  const attempt = async (server: Server, work: () => Promise<void>): Promise<void> => {
    const { name } = server.address;
    if (problems.has(name)) return;
    await work().catch((error: unknown) => problems.set(name, String(error)));
  };
  const connections = Math.min(warmUpConnectionsMax, load.connections);
  for (const { server, site, filled } of participants) {
    const { address } = server;
    rounds.set(address.name, []);
    await attempt(server, async () => {
      await generator.prepare({ address, site, filled });
      await generator.run({ name: address.name, connections, seconds: load.warmUpSeconds });
    });
  }
  for (let round = 0; round < load.rounds; round += 1) {
    for (const { server } of participants) {
      await attempt(server, async () => {
        rounds.get(server.address.name)?.push(await runOnce(generator, server, load));
      });
    }
  }
  generator.stop();
  return participants.map(({ server }) => {
    const { name } = server.address;
    return figuresOf(server, rounds.get(name) ?? [], problems.get(name));
  });
}

async function runOnce(generator: Generator, server: Server, load: Rounds): Promise<Round> {
  const { seconds, connections } = load;
  let before = cpuSecondsOf(server.pid);
  const run = await generator.run({ name: server.address.name, connections, seconds }, () => {
    before = cpuSecondsOf(server.pid);
  });
  const cpuSeconds = cpuSecondsOf(server.pid) - before;
  return { ...run, cpuMicrosecondsPerRequest: (cpuSeconds * 1e6) / Math.max(1, run.requests) };
}

function figuresOf(server: Server, rounds: readonly Round[], problem: string | undefined): Figures {
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const rates = rounds.map(({ steps, seconds }) => steps / seconds);
  return {
    server: server.address.name,
    perSecond: median(rates),
    rounds: rates,
    medianMilliseconds: middle((round) => round.medianMilliseconds),
    p99Milliseconds: middle((round) => round.p99Milliseconds),
    cpuMicrosecondsPerRequest: middle((round) => round.cpuMicrosecondsPerRequest),
    anonymousMegabytes: anonymousMegabytesOf(server.pid),
    slowestShare: slowestShareOf(rounds.map(({ stepsOf }) => stepsOf)),
    callersShare: middle((round) => round.callersShare),
    errors: rounds.reduce((sum, round) => sum + round.errors, 0),
    problem: problem ?? rounds.find(({ firstError }) => firstError !== undefined)?.firstError,
  };
}

/** Summed over rounds: one round may be too short for every connection to complete a step. */
export function slowestShareOf(rounds: readonly (readonly number[])[]): number {
  const [first = []] = rounds;
  const sums = first.map((_, index) => rounds.reduce((sum, round) => sum + (round[index] ?? 0), 0));
  const mean = sums.reduce((sum, steps) => sum + steps, 0) / sums.length;
  return mean > 0 ? Math.min(...sums) / mean : 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
