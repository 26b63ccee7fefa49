import type { Random } from "./random.ts";
import type { ServerProcess } from "./server-process.ts";
import type { StoreMeddler } from "./store-meddler.ts";

export const faultNames = ["kill", "pause", "drop", "clock", "client", "slow", "conflict"] as const;
export type FaultName = (typeof faultNames)[number];

export interface Battlefield {
  readonly servers: readonly ServerProcess[];
  /** Kills a client process and starts another. */
  readonly replaceClient: () => Promise<void>;
  /** Undefined if the servers share no data folder. */
  readonly meddler: StoreMeddler | undefined;
}

const restMillisecondsMax = 1500;
const downMillisecondsMax = 400;
const pauseMillisecondsMax = 2500;
const dropShare = 0.5;

/** Injects one fault after the other until the time is over; resolves when all are undone. */
export async function runNemesis(
  field: Battlefield,
  random: Random,
  enabled: readonly FaultName[],
  isOver: () => boolean,
): Promise<ReadonlyMap<FaultName, number>> {
  const counts = new Map<FaultName, number>(enabled.map((name) => [name, 0]));
  while (!isOver() && enabled.length > 0) {
    await wait(random.below(restMillisecondsMax));
    const name = random.pick(enabled);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await faults[name](field, random);
  }
  return counts;
}

const faults: Readonly<Record<FaultName, (field: Battlefield, random: Random) => Promise<void>>> = {
  async kill({ servers }, random) {
    const victims = random.chance(0.3) ? servers : [random.pick(servers)];
    await Promise.all(victims.map((server) => server.kill("SIGKILL")));
    await wait(random.below(downMillisecondsMax));
    for (const server of victims) await server.start();
  },
  async pause({ servers }, random) {
    const server = random.pick(servers);
    server.signal("SIGSTOP");
    await wait(random.below(pauseMillisecondsMax));
    server.signal("SIGCONT");
  },
  drop({ servers }, random) {
    random.pick(servers).drop(() => random.chance(dropShare));
    return Promise.resolve();
  },
  clock({ servers }, random) {
    random.pick(servers).signal("SIGUSR2");
    return Promise.resolve();
  },
  client: ({ replaceClient }) => replaceClient(),
  async slow({ servers, meddler }, random) {
    for (const server of servers) server.signal("SIGWINCH");
    await meddler?.stall(random);
  },
  async conflict({ meddler }, random) {
    await meddler?.conflict(random);
  },
};

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
