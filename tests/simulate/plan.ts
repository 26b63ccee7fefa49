import { randomFrom } from "../verify/random.ts";
import { workloads as allWorkloads } from "../verify/workloads/all.ts";
import type { Workload } from "../verify/workload.ts";
import { blockRegister, copyRegister } from "./workloads/block-register.ts";
import { largeRegister } from "./workloads/large-register.ts";
import { keptVersions } from "./workloads/kept-versions.ts";
import { smbFiles } from "./workloads/smb-files.ts";
import type { FaultRates, Latencies } from "./faults.ts";

/** Events that hit a machine during a run. */
export const eventNames = [
  "kill",
  "power loss",
  "pause",
  "clock jump",
  "full disk",
  "slow disk",
  "lost connections",
] as const;

export type EventName = (typeof eventNames)[number];

/** Everything that a seed decides before a run. Each can be reduced to find a smaller failure. */
export interface Plan {
  readonly seed: number;
  readonly processes: number;
  readonly workloads: readonly string[];
  readonly clientsEach: number;
  /** Operations after which clients stop, all together. */
  readonly operationsMax: number;
  /** Simulated seconds after which clients stop. */
  readonly secondsMax: number;
  /** Longest pause of a client between operations. */
  readonly thinkMicroseconds: number;
  readonly events: readonly EventName[];
  /** Average simulated seconds between two events. */
  readonly eventSeconds: number;
  readonly rates: FaultRates;
  readonly latencies: Latencies;
  readonly extentBytes: number;
}

/** Workloads that only simulations run. */
export const ownWorkloads: readonly Workload[] = [
  blockRegister,
  copyRegister,
  largeRegister,
  keptVersions,
  smbFiles,
];

/** Workloads that a simulation can run: SMB clients and webhooks use sockets of this machine. */
export const workloads: readonly Workload[] = [
  ...allWorkloads.filter(({ name }) => name !== "smb lock" && name !== "events"),
  ...ownWorkloads,
];

const spread = [0, 0, 0.001, 0.01, 0.05];

/** Swarm testing: each seed enables some workloads and faults, with sizes and rates of its own. A
 *  fault that is always there hides what needs its absence. */
export function planOf(seed: number): Plan {
  const random = randomFrom(seed * 7919 + 17);
  const some = <T>(from: readonly T[], share: number): readonly T[] => {
    const chosen = from.filter(() => random.chance(share));
    return chosen.length > 0 ? chosen : [random.pick(from)];
  };
  const names = workloads.map(({ name }) => name);
  const network = random.pick([200, 1_000, 10_000, 100_000]);
  const disk = random.pick([50, 300, 3_000, 20_000]);
  return {
    seed,
    processes: random.pick([1, 2, 2, 3]),
    workloads: some(names, random.pick([0.2, 0.5, 1])),
    clientsEach: random.pick([1, 2, 3, 5]),
    operationsMax: 2_000,
    secondsMax: random.pick([20, 60, 300]),
    thinkMicroseconds: random.pick([0, 1_000, 20_000, 500_000]),
    events: random.chance(0.15) ? [] : some(eventNames, random.pick([0.2, 0.6, 1])),
    eventSeconds: random.pick([1, 4, 15]),
    rates: {
      failingCommit: random.pick(spread),
      failingFlush: random.pick(spread),
      lostConnection: random.pick(spread),
      stalledConnection: random.pick([0, 0, 0.001, 0.005]),
      blockingCommit: random.pick([0, 0.5, 1]),
    },
    latencies: {
      networkMicroseconds: [20, network],
      diskMicroseconds: [10, disk],
      bytesPerMillisecond: random.pick([0, 0, 5_000, 200]),
    },
    extentBytes: random.pick([256, 1024, 8192]) * 1024,
  };
}
