import type { RunningServer } from "../../src/server/running-server.ts";
import type { Random } from "../verify/random.ts";
import { count, type Conditions, type FaultCounts } from "./faults.ts";
import { momentNames, type Moment } from "./moments.ts";
import type { Network } from "./network.ts";
import type { EventName, Plan } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Site } from "./site.ts";
import { microsecondsPerSecond, type SimProcess } from "./sim-process.ts";

interface ClusterOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly counts: FaultCounts;
  readonly plan: Plan;
  readonly site: Site;
  readonly network: Network;
  readonly complain: (problem: string) => void;
}

/** One place for a server process; it has a new process after each end. */
interface Slot {
  process: SimProcess | undefined;
  server: RunningServer | undefined;
  /** Increased when the process is replaced, so that a start in progress ends without effect. */
  generation: number;
}

const restartMicrosecondsMax = 2 * microsecondsPerSecond;
const startMicrosecondsMax = 120 * microsecondsPerSecond;
const startTriesMax = 1000;
/** Errors of a failing disk, database or bucket. */
const excuses =
  /no space|input\/output|StoreFull|StoreUnavailable|EIO|ENOSPC|database|connect|timeout/i;
/** How long a fault waits for the step of a server at which it happens. */
const momentMicrosecondsMax = microsecondsPerSecond;

/** The server processes of a site, and what happens to them. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #slots: Slot[];

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.plan.processes }, () => ({
      process: undefined,
      server: undefined,
      generation: 0,
    }));
  }

  /** A process, which may be down. */
  pick(random: Random): SimProcess | undefined {
    return random.pick(this.#slots).process;
  }

  async startAll(): Promise<void> {
    for (const slot of this.#slots) this.#start(slot);
    await this.#allServing();
  }

  /** Everything works again. */
  async heal(): Promise<void> {
    const { site, scheduler } = this.#options;
    site.heal();
    for (const slot of this.#slots) {
      if (slot.process === undefined) this.#start(slot);
      else slot.process.pausedUntil = Math.min(slot.process.pausedUntil, scheduler.now);
    }
    await this.#allServing();
  }

  async stopAll(): Promise<void> {
    for (const slot of this.#slots) {
      await slot.server?.stop();
      slot.process?.kill();
    }
  }

  /** Stops all servers and starts them again. */
  async restartAll(): Promise<void> {
    await this.stopAll();
    for (const slot of this.#slots) slot.server = undefined;
    await this.startAll();
  }

  /** A supervisor restarts a process that can no longer work, when it has noticed. */
  restartLater(process: SimProcess): void {
    const { scheduler } = this.#options;
    scheduler.schedule(scheduler.between(1, restartMicrosecondsMax), () => {
      const slot = this.#slots.find((each) => each.process === process);
      if (slot !== undefined) this.#end(slot);
    });
  }

  /** Lets events happen until `isOver`. */
  async runEvents(isOver: () => boolean): Promise<void> {
    const { scheduler, plan, counts } = this.#options;
    while (plan.events.length > 0 && !isOver()) {
      const pause = scheduler.between(1, 2 * plan.eventSeconds * microsecondsPerSecond);
      await this.#sleepUnless(isOver, pause);
      if (isOver()) return;
      const name = scheduler.random.pick(plan.events);
      count(counts, name);
      this.#happen(name);
    }
  }

  /** Short sleeps, so that a run ends soon after its clients. */
  async #sleepUnless(isOver: () => boolean, microseconds: number): Promise<void> {
    const { scheduler } = this.#options;
    const end = scheduler.now + microseconds;
    while (scheduler.now < end && !isOver()) {
      await scheduler.sleep(Math.min(end - scheduler.now, 100_000));
    }
  }

  #happen(name: EventName): void {
    const { scheduler, site, network } = this.#options;
    const { random } = scheduler;
    const slot = random.pick(this.#slots);
    switch (name) {
      case "kill":
        return this.#atMoment(random.pick(momentNames), () => this.#end(slot));
      case "power loss":
        return this.#atMoment(random.pick(momentNames), () => this.#losePower());
      case "pause":
        return this.#atMoment(random.pick(momentNames), () => this.#pause(slot));
      case "lost connections":
        return network.cutSome(random.pick([0.2, 1]));
      default:
        return site.happen(name);
    }
  }

  #pause({ process }: Slot): void {
    if (process === undefined) return;
    const { scheduler, site } = this.#options;
    const seconds = scheduler.random.pick(site.pauseSeconds);
    process.pausedUntil = scheduler.now + seconds * microsecondsPerSecond;
  }

  /** Mostly at a step of a server, for which it waits a while. */
  #atMoment(moment: Moment, run: () => void): void {
    const { scheduler, conditions } = this.#options;
    const happen = (): void => {
      if (conditions.hasFaults) run();
    };
    if (scheduler.random.chance(0.8))
      conditions.moments.next(moment, momentMicrosecondsMax, happen);
    else happen();
  }

  #losePower(): void {
    this.#options.site.losePower();
    for (const each of this.#slots) this.#end(each);
  }

  #end(slot: Slot): void {
    const { scheduler } = this.#options;
    slot.process?.kill();
    slot.process = undefined;
    slot.server = undefined;
    slot.generation += 1;
    const { generation } = slot;
    scheduler.schedule(scheduler.random.below(restartMicrosecondsMax), () => {
      if (slot.generation === generation && slot.process === undefined) this.#start(slot);
    });
  }

  #start(slot: Slot): void {
    slot.generation += 1;
    const { generation } = slot;
    const process = this.#options.site.newProcess();
    slot.process = process;
    void this.#serve(slot, process, generation);
  }

  async #serve(slot: Slot, process: SimProcess, generation: number): Promise<void> {
    const { site, scheduler, complain } = this.#options;
    try {
      const server = await site.serve(process);
      if (slot.generation === generation) slot.server = server;
    } catch (error) {
      if (slot.generation !== generation) return;
      if (!this.#isExcused(error)) complain(`a server does not start: ${String(error)}`);
      // A full or failing disk; an operator or a supervisor starts it again.
      process.kill();
      slot.process = undefined;
      scheduler.schedule(restartMicrosecondsMax, () => {
        if (slot.generation === generation) this.#start(slot);
      });
    }
  }

  /** Whether a start may fail: only while something is wrong with the disk or the
   *  database. */
  #isExcused(error: unknown): boolean {
    const text = String(error instanceof Error ? (error.stack ?? error) : error);
    return excuses.test(text);
  }

  async #allServing(): Promise<void> {
    const { scheduler } = this.#options;
    const end = scheduler.now + startMicrosecondsMax;
    for (let tries = 0; tries < startTriesMax && scheduler.now < end; tries += 1) {
      if (this.#slots.every(({ server }) => server !== undefined)) return;
      await scheduler.sleep(startMicrosecondsMax / startTriesMax);
    }
    throw new Error("a server does not start");
  }
}
