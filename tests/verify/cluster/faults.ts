import type { Random } from "../random.ts";
import type { ServerProcess } from "../server-process.ts";
import type { Cluster, Node } from "./cluster.ts";
import type { Direction } from "./network.ts";
import { wait } from "./wait.ts";

type Fault = (cluster: Cluster, random: Random) => Promise<void>;

/** A node without a heartbeat for 30 s is fenced; this is longer. */
export const fencedMilliseconds = 40_000;
const directions: readonly Direction[] = ["both", "there", "back"];
const dropShare = 0.5;
/** Two seconds to nine days: the database has dates that are compared with days. */
const jumpSeconds = [2, 30, 600, 10_800, 172_800, 777_600] as const;
const startTriesMax = 60;

/** Each undoes itself before it resolves. */
export const clusterFaults = {
  /** A node and its database lose packets, in both directions or in one. */
  async partition({ network, nodes }, random) {
    const { name } = random.pick(nodes);
    const direction = random.pick(directions);
    network.partition(name, "gate", direction);
    await wait(500 + random.below(6_000));
    network.heal(name, "gate", direction);
  },
  /** The same with the bucket. */
  async "bucket partition"({ network, nodes }, random) {
    const { name } = random.pick(nodes);
    const direction = random.pick(directions);
    network.partition(name, "bucket", direction);
    await wait(500 + random.below(4_000));
    network.heal(name, "bucket", direction);
  },
  /** The cable of a node is loose. */
  async flapping({ network, nodes }, random) {
    const { name } = random.pick(nodes);
    for (let times = 3 + random.below(6); times > 0; times -= 1) {
      network.setCable(name, false);
      await wait(50 + random.below(500));
      network.setCable(name, true);
      await wait(50 + random.below(500));
    }
  },
  /** A node is alone: neither clients nor database nor bucket reach it. */
  async isolation({ network, nodes }, random) {
    const { name } = random.pick(nodes);
    network.setCable(name, false);
    await wait(500 + random.below(5_000));
    network.setCable(name, true);
  },
  async delay({ gate, nodes }, random) {
    const { port } = random.pick(nodes);
    await gate.order({ port, delay: random.pick([5, 30, 200]) });
    await wait(1_000 + random.below(3_000));
    await gate.order({ port, delay: 0 });
  },
  async "lost connections"({ gate, nodes }, random) {
    await gate.order({ port: random.pick(nodes).port, cut: true });
    random.pick(nodes).server.drop(() => random.chance(dropShare));
  },
  /** Commits happen, and the node does not know. */
  async "lost responses"({ gate, nodes }, random) {
    await gate.order({ port: random.pick(nodes).port, lose: 1 + random.below(4) });
  },
  async "paused node"({ nodes }, random) {
    const { server } = random.pick(nodes);
    server.signal("SIGSTOP");
    await wait(random.below(4_000));
    server.signal("SIGCONT");
  },
  async "killed node"({ nodes }, random) {
    const { server } = random.pick(nodes);
    await server.kill("SIGKILL");
    await wait(random.below(500));
    await startAgain(server);
  },
  async "clock jump"({ nodes }, random) {
    random.pick(nodes).server.signal("SIGUSR2");
    await Promise.resolve();
  },
  async "paused primary"({ databases }, random) {
    const { instance } = databases.primary;
    instance.pause("SIGSTOP");
    await wait(200 + random.below(3_000));
    instance.pause("SIGCONT");
  },
  /** Commits wait for the standby. */
  async "replication partition"({ network, databases }, random) {
    const { primary, standby } = databases;
    const direction = random.pick(directions);
    network.partition(primary.name, standby.name, direction);
    await wait(200 + random.below(2_500));
    network.heal(primary.name, standby.name, direction);
  },
  /** The primary is paused, replaced, and returns. */
  async failover(cluster, random) {
    await cluster.failOver(() => wait(200 + random.below(1_500)));
  },
  /** PostgreSQL ends its processes and recovers from its log. */
  async "failing flush"({ databases }, random) {
    const member = random.pick([databases.primary, databases.standby]);
    const { faults } = member;
    const before = faults.failures;
    faults.setFailing(true);
    const until = performance.now() + 200 + random.below(2_000);
    // Long enough to meet a flush, unless nothing is written.
    while (performance.now() < until || faults.failures === before) await wait(20);
    faults.setFailing(false);
    await databases.recover(member);
  },
  /** Primary and standby have different clocks, so that a failover changes the time as well. */
  async "database clock jump"({ databases }, random) {
    const { faults } = random.pick([databases.primary, databases.standby]);
    faults.setClock(random.pick([-1, 1]) * random.pick(jumpSeconds) * 1_000);
    await wait(random.below(2_000));
  },
  async "bucket errors"(cluster, random) {
    for (let count = 1 + random.below(5); count > 0; count -= 1) {
      cluster.troubleBucket(random.pick([503, "break", "lose-answer"]));
    }
    await Promise.resolve();
  },
  /** A node is paused until it is fenced, returns, and is restarted. */
  async fencing({ nodes }, random) {
    await fence(random.pick(nodes), random);
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type ClusterFault = keyof typeof clusterFaults;

async function fence({ server }: Node, random: Random): Promise<void> {
  server.signal("SIGSTOP");
  await wait(fencedMilliseconds + random.below(20_000));
  server.signal("SIGCONT");
  await wait(2_000);
  await server.kill("SIGKILL");
  await startAgain(server);
}

/** A start fails while the database is away; a supervisor tries again. */
async function startAgain(server: ServerProcess): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await server.start();
      return;
    } catch (error) {
      if (tries === startTriesMax) throw error;
      await wait(500);
    }
  }
}

/** Faults of databases and of the bucket; all others are those of nodes. */
const databaseFaults: ReadonlySet<string> = new Set<ClusterFault>([
  "paused primary",
  "replication partition",
  "failover",
  "failing flush",
  "database clock jump",
  "bucket errors",
]);

/** Until the time is over, one fault of nodes after the other, and meanwhile one of databases after
 *  the other; those of one kind would undo each other. */
export async function runClusterFaults(
  cluster: Cluster,
  random: Random,
  enabled: readonly ClusterFault[],
  isOver: () => boolean,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>(enabled.map((name) => [name, 0]));
  const run = async (names: readonly ClusterFault[], restMilliseconds: number): Promise<void> => {
    while (!isOver() && names.length > 0) {
      await wait(random.below(restMilliseconds));
      const name = random.pick(names);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      await clusterFaults[name](cluster, random);
    }
  };
  await Promise.all([
    run(
      enabled.filter((name) => !databaseFaults.has(name)),
      1_000,
    ),
    run(
      enabled.filter((name) => databaseFaults.has(name)),
      4_000,
    ),
  ]);
  return counts;
}
