import { createHash } from "node:crypto";
import type { Random as ByteSource } from "../../src/base/world.ts";
import {
  operationsIn,
  unavailableAsUnknown,
  type HistoryEvent,
  type Operation,
} from "../verify/history.ts";
import { randomFrom } from "../verify/random.ts";
import { NeverSent, Recorder } from "../verify/recorder.ts";
import { undecided } from "../verify/explain.ts";
import { judge, type Finding } from "../verify/verdict.ts";
import type { Sender, Setting, Workload } from "../verify/workload.ts";
import { checkStored, hasExtentWithoutRecord } from "./check-stored.ts";
import { ClientSocket } from "./client-socket.ts";
import { Cluster } from "./cluster.ts";
import { count, type Conditions, type FaultCounts } from "./faults.ts";
import { Machine } from "./machine.ts";
import { Moments } from "./moments.ts";
import { Network } from "./network.ts";
import { Nodes } from "./nodes/nodes.ts";
import { workloads, type Plan } from "./plan.ts";
import { Scheduler } from "./scheduler.ts";
import { microsecondsPerSecond, type LogLine } from "./sim-process.ts";
import { simSmb } from "./sim-smb.ts";
import { SimWire, titleAt } from "./sim-wire.ts";
import type { PeerConnect, Site } from "./site.ts";

export interface Outcome {
  readonly problems: readonly string[];
  /** Of all messages of the run, in their order and with their times. */
  readonly hash: string;
  readonly operations: number;
  readonly seconds: number;
  /** CPU time in which idle servers simulated `quietSeconds`; absent if the run ended before. */
  readonly idleCpuSeconds?: number;
  readonly events: number;
  readonly messages: number;
  readonly counts: FaultCounts;
  readonly findings: readonly Finding[];
  /** Calls and results of all clients. */
  readonly history: readonly Operation[];
}

const epochSeconds = 4;
/** How long everything works before the final reads: leases, visibility timeouts and background
 *  tasks end. */
export const quietSeconds = 70;
/** How much longer the clients of a workload without a success go on. */
const secondsMoreMax = 120;
const stepsWithoutFaultsMax = 100;
/** How long background tasks run after the final reads, before the stored data is checked. */
const settleSeconds = 10;
/** A little longer than the pause between two searches for extents without a record. */
const sweepSeconds = 3_700;
/** One of this many seeds waits for the search of running servers. */
const seedsPerLongSweep = 8;
/** After a start, a new leader may have to be elected first. */
const sweepRoundsMax = 12;

/** Runs one seed: the whole life of a machine with its servers, clients and faults. */
export async function simulate(plan: Plan): Promise<Outcome> {
  return new Simulation(plan).run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #counts: FaultCounts = new Map();
  readonly #conditions: Conditions;
  readonly #network: Network;
  readonly #site: Site;
  readonly #cluster: Cluster;
  readonly #workloads: readonly Workload[];
  readonly #history: HistoryEvent[] = [];
  /** The keys that clients have used, of each workload. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #problems: string[] = [];
  /** Workloads of which a client had a successful call. */
  readonly #succeeded = new Set<string>();
  /** Calls that were sent. */
  #calls = 0;
  #idleCpuSeconds: number | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#scheduler = new Scheduler(plan.seed);
    const moments = new Moments(this.#scheduler);
    this.#conditions = { isDiskFull: false, diskSlowness: 1, hasFaults: false, moments };
    const { rates, latencies, extentBytes } = plan;
    const parts = {
      scheduler: this.#scheduler,
      conditions: this.#conditions,
      rates,
      latencies,
      counts: this.#counts,
    };
    this.#network = new Network({ ...parts, ...latencies });
    const random = byteSource(plan.seed);
    const write = (line: LogLine): void => this.#log(line);
    const keepsNodes = !plan.events.some((name) => name === "kill" || name === "power loss");
    const connect: PeerConnect = (from, { port }, idleMilliseconds) => {
      const to = this.#cluster.pick(this.#scheduler.random);
      const socket = ClientSocket.between(this.#network, from, to, titleAt(port));
      return socket.setTimeout(idleMilliseconds);
    };
    const siteOptions = { ...parts, extentBytes, keepsNodes, random, write, connect };
    this.#site = plan.site === "nodes" ? new Nodes(siteOptions) : new Machine(siteOptions);
    this.#cluster = new Cluster({
      ...parts,
      plan,
      site: this.#site,
      network: this.#network,
      complain: (problem) => void this.#problems.push(problem),
    });
    this.#workloads = workloads.filter(({ name }) => plan.workloads.includes(name));
  }

  async run(): Promise<Outcome> {
    const life = { isOver: false, error: undefined as unknown };
    const whole = this.#life().then(
      () => (life.isOver = true),
      (error: unknown) => Object.assign(life, { isOver: true, error }),
    );
    try {
      await this.#scheduler.run(() => life.isOver);
      await whole;
    } catch (error) {
      this.#problems.push(`the simulation ended: ${textOf(error)}`);
    }
    if (life.error !== undefined) this.#problems.push(textOf(life.error));
    const all = operationsIn(this.#history);
    const operations = this.#plan.site === "nodes" ? unavailableAsUnknown(all) : all;
    const findings = judge(this.#workloads, operations);
    const found = findings.flatMap(({ workload, problems }) =>
      problems.map((problem) => `${workload}: ${problem}`),
    );
    const proved = found.filter((problem) => !problem.endsWith(undecided));
    for (let keys = found.length - proved.length; keys > 0; keys -= 1) {
      count(this.#counts, "key without a verdict");
    }
    return {
      problems: [...proved, ...this.#problems],
      hash: this.#network.digest(),
      operations: operations.length,
      seconds: this.#scheduler.now / microsecondsPerSecond,
      ...(this.#idleCpuSeconds === undefined ? {} : { idleCpuSeconds: this.#idleCpuSeconds }),
      events: this.#scheduler.events,
      messages: this.#network.messages,
      counts: this.#counts,
      findings,
      history: operations,
    };
  }

  async #life(): Promise<void> {
    const scheduler = this.#scheduler;
    await this.#cluster.startAll();
    const main = this.#setting("main", this.#plan.seed);
    const own = { ...main, wire: repeatingReads(main.wire) };
    for (const workload of this.#workloads) await workload.setUp(own);
    this.#conditions.hasFaults = true;
    await this.#runClients();
    this.#conditions.hasFaults = false;
    await this.#cluster.heal();
    await this.#runIdleWorkloads();
    // All clients have gone; the final reads come from new ones.
    this.#network.cutSome(1);
    const before = process.cpuUsage();
    await scheduler.sleep(quietSeconds * microsecondsPerSecond);
    this.#idleCpuSeconds = cpuSecondsSince(before);
    for (const workload of this.#workloads) {
      await workload.finish(own, [...(this.#keys.get(workload.name) ?? [])]);
    }
    await scheduler.sleep(settleSeconds * microsecondsPerSecond);
    await this.#awaitSweep();
    await this.#cluster.stopAll();
    await this.#checkData();
  }

  /** A server looks for extents without a record when it starts, and once an hour. An hour of idle
   *  servers takes about as long as all of their operations, so that few seeds wait for it. */
  async #awaitSweep(): Promise<void> {
    if (!(await hasExtentWithoutRecord(this.#site))) return;
    const sleep = (seconds: number): Promise<void> =>
      this.#scheduler.sleep(seconds * microsecondsPerSecond);
    if (this.#plan.seed % seedsPerLongSweep === 0) return sleep(sweepSeconds);
    await this.#cluster.restartAll();
    for (let rounds = 0; rounds < sweepRoundsMax; rounds += 1) {
      await sleep(settleSeconds);
      if (!(await hasExtentWithoutRecord(this.#site))) return;
    }
  }

  /** Clients and faults, until the limits of the plan. The clients of a workload without a success
   *  go on for some time: faults that suppress all of it would show nothing. */
  async #runClients(): Promise<void> {
    const { clientsEach, seed, secondsMax, operationsMax } = this.#plan;
    const scheduler = this.#scheduler;
    const started = scheduler.now;
    const isAfter = (seconds: number): boolean =>
      scheduler.now > started + seconds * microsecondsPerSecond;
    const isOver = (): boolean => isAfter(secondsMax) || this.#calls >= operationsMax;
    const isOverFor = ({ name }: Workload): boolean =>
      isOver() && (this.#succeeded.has(name) || isAfter(secondsMax + secondsMoreMax));
    const clients = this.#workloads.flatMap((workload, place) =>
      Array.from({ length: clientsEach }, (_, index) => {
        const name = `c${place}-${index}`;
        const setting = this.#setting(name, seed + place * 1000 + index + 1, workload);
        return this.#client(workload, setting, () => isOverFor(workload));
      }),
    );
    const nemesis = this.#cluster.runEvents(() => this.#workloads.every(isOverFor));
    await Promise.all(clients);
    await nemesis;
  }

  /** A workload without a success must have one when everything works. */
  async #runIdleWorkloads(): Promise<void> {
    for (const [place, workload] of this.#workloads.entries()) {
      if (this.#succeeded.has(workload.name)) continue;
      count(this.#counts, `workload suppressed by faults: ${workload.name}`);
      const setting = this.#setting(`s${place}`, this.#plan.seed + place, workload);
      let steps = 0;
      const isOver = (): boolean => {
        steps += 1;
        return this.#succeeded.has(workload.name) || steps > stepsWithoutFaultsMax;
      };
      await this.#client(workload, setting, isOver);
      if (!this.#succeeded.has(workload.name)) {
        this.#problems.push(`${workload.name}: no success, even without faults`);
      }
    }
  }

  async #client(workload: Workload, setting: Setting, isOver: () => boolean): Promise<void> {
    const step = workload.client(setting);
    while (!isOver()) {
      await step().catch(() => undefined);
      await this.#scheduler.sleep(1 + setting.random.below(this.#plan.thinkMicroseconds + 1));
    }
  }

  #setting(client: string, seed: number, workload?: Workload): Setting {
    const random = randomFrom(seed);
    const epochMicroseconds = epochSeconds * microsecondsPerSecond;
    let uniques = 0;
    const record = (event: HistoryEvent): void => {
      if (event.event === "call") this.#noteCall(event);
      if (event.event === "never") this.#calls -= 1;
      if (event.event === "return" && workload !== undefined && isSuccess(event.output)) {
        this.#succeeded.add(workload.name);
      }
      this.#history.push(event);
    };
    return {
      wire: new SimWire(this.#network, () => this.#cluster.pick(random)),
      smb: simSmb(this.#network, random, () => this.#cluster.pick(random)),
      server: () => {
        throw new Error("a simulated server has no addresses");
      },
      recorder: new Recorder(client, record, () => this.#scheduler.now),
      pause: (seconds) => this.#scheduler.sleep(seconds * microsecondsPerSecond),
      random,
      epoch: () => Math.floor(this.#scheduler.now / epochMicroseconds),
      unique() {
        uniques += 1;
        return `${client}x${uniques}`;
      },
    };
  }

  #noteCall({ workload, key }: { readonly workload: string; readonly key: string }): void {
    this.#calls += 1;
    const keys = this.#keys.get(workload) ?? new Set();
    this.#keys.set(workload, keys.add(key));
  }

  async #checkData(): Promise<void> {
    const found = await checkStored(this.#site, this.#scheduler.random, this.#counts);
    this.#problems.push(...found.map((problem) => `stored data: ${problem}`));
  }

  /** The server logs an error only for a failing disk, or for a bug. */
  #log({ level, fields, message, process }: LogLine): void {
    if (message.startsWith("this node was fenced")) {
      count(this.#counts, "node fenced");
      return this.#cluster.restartLater(process);
    }
    if (level !== "error" || message.startsWith("storage unavailable")) return;
    const error = "err" in fields ? textOf(fields.err) : JSON.stringify(fields);
    this.#problems.push(`log: ${message}: ${error}`);
  }
}

const readTriesMax = 3;
/** A node may learn only now that others have fenced it; it is down until it has started again. */
const unsentTriesMax = 1_000;

/** A server closes idle connections, which a request may meet, as with every HTTP client. Without
 *  the final reads nothing is known. */
function repeatingReads(wire: Sender): Sender {
  return {
    async send(request) {
      let reads = 0;
      for (let tries = 1; ; tries += 1) {
        try {
          return await wire.send(request);
        } catch (error) {
          const isUnsent = error instanceof NeverSent;
          if (!isUnsent) reads += 1;
          const mayRepeat = isUnsent || (request.method === "GET" && reads < readTriesMax);
          if (!mayRepeat || tries === unsentTriesMax) throw error;
        }
      }
    },
  };
}

export function cpuSecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function isSuccess(output: object): boolean {
  return "status" in output && Number(output.status) < 300;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Random bytes of the servers: SHA-256 in counter mode. */
function byteSource(seed: number): ByteSource {
  let blocks = 0;
  let pool = Buffer.alloc(0);
  return {
    bytes(length) {
      const parts = [pool];
      for (let have = pool.length; have < length; have += 32) {
        blocks += 1;
        parts.push(createHash("sha256").update(`${seed} ${blocks}`).digest());
      }
      const all = Buffer.concat(parts);
      pool = all.subarray(length);
      return new Uint8Array(all.subarray(0, length));
    },
  };
}
