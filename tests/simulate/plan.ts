import { randomFrom } from "../verify/random.ts";
import { workloads as allWorkloads } from "../verify/workloads/all.ts";
import type { Workload } from "../verify/workload.ts";
import { accessPolicies } from "./workloads/access-policies.ts";
import { blockRegister, copyRegister } from "./workloads/block-register.ts";
import { largeRegister } from "./workloads/large-register.ts";
import { keptVersions } from "./workloads/kept-versions.ts";
import { quota } from "./workloads/quota.ts";
import { smbFiles } from "./workloads/smb-files.ts";
import { replacedContents } from "./workloads/replaced-contents.ts";
import { smbDirectories } from "./workloads/smb-directories.ts";
import { smbLockBatches } from "./workloads/smb-lock-batches.ts";
import { smbReadLeases } from "./workloads/smb-read-leases.ts";
import { softDelete } from "./workloads/soft-delete.ts";
import { tagSearch } from "./workloads/tag-search.ts";
import { transfers } from "./workloads/transfers.ts";
import type { FaultRates, Latencies } from "./faults.ts";

const processEvents = ["kill", "power loss", "pause", "lost connections", "clock jump"] as const;

/** Events that hit a machine with a data folder, or nodes on a database, during a run. */
export const siteEvents = {
  folder: [...processEvents, "full disk", "slow disk"],
  nodes: [...processEvents, "partition", "failover", "slow database", "bucket outage"],
} as const;

export type SiteName = keyof typeof siteEvents;
export type EventName = (typeof siteEvents)[SiteName][number];

/** Everything that a seed decides before a run. Each can be reduced to find a smaller failure. */
export interface Plan {
  readonly seed: number;
  /** One machine with a data folder, or nodes on a database and a bucket. */
  readonly site: SiteName;
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
  replacedContents,
  keptVersions,
  smbFiles,
  smbReadLeases,
  smbDirectories,
  softDelete,
  quota,
  smbLockBatches,
  transfers,
  tagSearch,
  accessPolicies,
];

/** Workloads that a simulation can run: SMB clients and webhooks use sockets of this machine. */
export const workloads: readonly Workload[] = [
  ...allWorkloads.filter(({ name }) => name !== "smb lock" && name !== "events"),
  ...ownWorkloads,
];

const longSeconds = 4 * 3_600;
/** At most this between two operations of a client of a long run. */
const longThinkMicroseconds = 600_000_000;

export function isLongPlan({ secondsMax }: Plan): boolean {
  return secondsMax >= longSeconds;
}

const spread = [0, 0, 0.001, 0.01, 0.05];
/** Share of the seeds without hours that have one fault only, which happens often: what unflushed
 *  writes and fenced nodes show is rare among all faults. */
const oneFaultShare = 0.12;
const writers = ["replaced contents", "large register", "block register", "kept versions"];
const oneFault: Readonly<Record<SiteName, Partial<Plan>>> = {
  folder: { workloads: writers, events: ["power loss"], eventSeconds: 1, secondsMax: 120 },
  nodes: { workloads: writers, events: ["pause", "partition"], eventSeconds: 15, secondsMax: 600 },
};
/** So that most losses of power meet writes that are not flushed. */
const slowFlush = [10, 20_000] as const;

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
  const site = random.chance(0.4) ? "nodes" : "folder";
  const isFolder = site === "folder";
  // Hours in which clients rarely do something: heartbeats, leases and background tasks go on.
  const isLong = !isFolder && random.chance(0.25);
  const plan: Plan = {
    seed,
    site,
    processes: random.pick(isFolder ? [1, 2, 2, 3] : [2, 3, 3]),
    workloads: some(names, random.pick([0.2, 0.5, 1])),
    clientsEach: random.pick([1, 2, 3, 5]),
    operationsMax: 2_000,
    secondsMax: isLong ? longSeconds : random.pick(isFolder ? [20, 60, 300] : [60, 300, 600]),
    thinkMicroseconds: isLong ? longThinkMicroseconds : random.pick([0, 1_000, 20_000, 500_000]),
    events: random.chance(0.15) ? [] : some(siteEvents[site], random.pick([0.2, 0.6, 1])),
    // An outage of the database takes seconds.
    eventSeconds: random.pick(isLong ? [300, 2_000] : isFolder ? [1, 4, 15] : [5, 15, 40]),
    rates: {
      failingCommit: random.pick(spread),
      failingFlush: random.pick(spread),
      lostConnection: random.pick(spread),
      stalledConnection: random.pick([0, 0, 0.001, 0.005]),
      blockingCommit: random.pick([0, 0.5, 1]),
      lostQuery: random.pick([0, 0, 0.001, 0.01, 0.03]),
      stalledQuery: random.pick([0, 0, 0.0005, 0.003]),
      failingBucket: random.pick([0, 0, 0.01, 0.1]),
    },
    latencies: {
      networkMicroseconds: [20, network],
      diskMicroseconds: [10, disk],
      bucketMicroseconds: [100, random.pick([2_000, 30_000])],
      bytesPerMillisecond: random.pick([0, 0, 5_000, 200]),
    },
    extentBytes: random.pick([256, 1024, 8192]) * 1024,
  };
  if (isLong || !random.chance(oneFaultShare)) return plan;
  const latencies = { ...plan.latencies, ...(isFolder && { diskMicroseconds: slowFlush }) };
  return { ...plan, thinkMicroseconds: 100_000, latencies, ...oneFault[site] };
}
