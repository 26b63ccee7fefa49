import { createHash } from "node:crypto";
import { checkState } from "../../src/commands/folder-check/check-folder.ts";
import type { Random as ByteSource } from "../../src/base/world.ts";
import { operationsIn, type HistoryEvent, type Operation } from "../verify/history.ts";
import { randomFrom } from "../verify/random.ts";
import { Recorder } from "../verify/recorder.ts";
import { judge, nothingSucceeded, type Finding } from "../verify/verdict.ts";
import type { Setting, Workload } from "../verify/workload.ts";
import { Cluster } from "./cluster.ts";
import type { Conditions, FaultCounts } from "./faults.ts";
import { Machine } from "./machine.ts";
import { Network } from "./network.ts";
import { workloads, type Plan } from "./plan.ts";
import { Scheduler } from "./scheduler.ts";
import { microsecondsPerSecond, type LogLine } from "./sim-process.ts";
import { SimWire } from "./sim-wire.ts";

export interface Outcome {
  readonly problems: readonly string[];
  /** Of all messages of the run, in their order and with their times. */
  readonly hash: string;
  readonly operations: number;
  readonly seconds: number;
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
const quietSeconds = 70;
/** How long background tasks run after the final reads, before the stored data is checked. */
const settleSeconds = 10;

/** Runs one seed: the whole life of a machine with its servers, clients and faults. */
export async function simulate(plan: Plan): Promise<Outcome> {
  return new Simulation(plan).run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #counts: FaultCounts = new Map();
  readonly #conditions: Conditions = { isDiskFull: false, diskSlowness: 1, hasFaults: false };
  readonly #network: Network;
  readonly #machine: Machine;
  readonly #cluster: Cluster;
  readonly #workloads: readonly Workload[];
  readonly #history: HistoryEvent[] = [];
  readonly #problems: string[] = [];
  #calls = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#scheduler = new Scheduler(plan.seed);
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
    this.#machine = new Machine({ ...parts, extentBytes, random, write });
    this.#cluster = new Cluster({
      ...parts,
      plan,
      machine: this.#machine,
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
    const operations = operationsIn(this.#history);
    const findings = judge(this.#workloads, operations);
    // Of many workloads in a short run, one may have had no success under faults.
    const isIdle = findings.every(({ problems }) => problems.includes(nothingSucceeded));
    const found = findings.flatMap(({ workload, problems }) =>
      problems
        .filter((problem) => isIdle || problem !== nothingSucceeded)
        .map((problem) => `${workload}: ${problem}`),
    );
    return {
      problems: [...this.#problems, ...found],
      hash: this.#network.digest(),
      operations: operations.length,
      seconds: this.#scheduler.now / microsecondsPerSecond,
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
    const own = this.#setting("main", this.#plan.seed);
    for (const workload of this.#workloads) await workload.setUp(own);
    this.#conditions.hasFaults = true;
    const end = scheduler.now + this.#plan.secondsMax * microsecondsPerSecond;
    const isOver = (): boolean => scheduler.now > end || this.#calls >= this.#plan.operationsMax;
    const nemesis = this.#cluster.runEvents(isOver);
    await Promise.all(this.#clients(isOver));
    await nemesis;
    this.#conditions.hasFaults = false;
    await this.#cluster.heal();
    await scheduler.sleep(quietSeconds * microsecondsPerSecond);
    for (const workload of this.#workloads) await workload.finish(own, this.#keysOf(workload));
    await scheduler.sleep(settleSeconds * microsecondsPerSecond);
    await this.#cluster.stopAll();
    await this.#checkData();
  }

  #clients(isOver: () => boolean): readonly Promise<void>[] {
    const { clientsEach, seed } = this.#plan;
    return this.#workloads.flatMap((workload, place) =>
      Array.from({ length: clientsEach }, (_, index) => {
        const setting = this.#setting(`c${place}-${index}`, seed + place * 1000 + index + 1);
        return this.#client(workload, setting, isOver);
      }),
    );
  }

  async #client(workload: Workload, setting: Setting, isOver: () => boolean): Promise<void> {
    const step = workload.client(setting);
    while (!isOver()) {
      await step().catch(() => undefined);
      await this.#scheduler.sleep(1 + setting.random.below(this.#plan.thinkMicroseconds + 1));
    }
  }

  #setting(client: string, seed: number): Setting {
    const random = randomFrom(seed);
    const epochMicroseconds = epochSeconds * microsecondsPerSecond;
    let uniques = 0;
    const record = (event: HistoryEvent): void => {
      if (event.event === "call") this.#calls += 1;
      this.#history.push(event);
    };
    return {
      wire: new SimWire(this.#network, () => this.#cluster.pick(random)),
      server: () => {
        throw new Error("a simulated server has no addresses");
      },
      recorder: new Recorder(client, record, () => this.#scheduler.now),
      random,
      epoch: () => Math.floor(this.#scheduler.now / epochMicroseconds),
      unique() {
        uniques += 1;
        return `${client}x${uniques}`;
      },
    };
  }

  #keysOf({ name }: Workload): readonly string[] {
    const calls = this.#history.flatMap((event) =>
      event.event === "call" && event.workload === name ? [event.key] : [],
    );
    return [...new Set(calls)];
  }

  /** `etagere check` on what is stored at the end. */
  async #checkData(): Promise<void> {
    const state = this.#machine.openState();
    const files = this.#machine.disk.filesOf(this.#machine.newProcess());
    const filesBefore = new Set(this.#machine.disk.extents);
    const { problems } = await checkState(state, { files, filesBefore });
    this.#problems.push(...problems.map((problem) => `stored data: ${problem}`));
  }

  /** The server logs an error only for a failing disk, or for a bug. */
  #log({ level, fields, message }: LogLine): void {
    if (level !== "error" || message.startsWith("storage unavailable")) return;
    const error = "err" in fields ? textOf(fields.err) : JSON.stringify(fields);
    this.#problems.push(`log: ${message}: ${error}`);
  }
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
