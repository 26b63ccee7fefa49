import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { Options } from "../server/options.ts";
import { endpointNames, serviceLine, type EndpointName } from "../server/service-listener.ts";
import { StartRefused } from "../host/refused.ts";
import { LoadBalance } from "./load-balance.ts";
import type { EventsMessage, FromWorker, ObserveMessage, OtherFigures } from "./messages.ts";
import { SharedSockets } from "./shared-sockets.ts";
import { WorkerProcess } from "./worker-process.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import { endedSample, mergeSamples, requestTotal } from "./merge-samples.ts";
import { newMetrics } from "../server/metrics.ts";
import { expectFreeDescriptors, processFigures } from "../host/process.ts";
import type { EtagereServer } from "../server/start.ts";

/** The supervisor: the process that the user starts with `--workers`. It serves nothing itself: it
 *  binds the ports, starts worker processes that serve them, replaces those that end, and passes on
 *  feed events and figures. */

/** Tells workers to send no feed events, because no subscriber reads them. */
const notObserved: ObserveMessage = { kind: "observe", isOn: false, reads: [] };

/** Passes the events of the workers for the request feed (`admin/feed`) to the main worker while it
 *  has subscribers. */
export class FeedRelay {
  #observed: ObserveMessage = notObserved;
  /** Events that the main worker did not get since the last message to it. */
  #missed = 0;

  /** Makes the other workers start or stop to send events of the request feed. Called when the feed
   *  of the main worker has got its first subscriber or lost its last one, and when the set of
   *  objects changes whose reads are events. */
  observe(message: ObserveMessage, others: readonly WorkerProcess[]): void {
    this.#observed = message;
    for (const worker of others) worker.send(message);
  }

  /** Called for a new worker: a main worker has no subscribers yet; any other worker sends events
   *  if the main worker has subscribers. */
  join(worker: WorkerProcess, others: readonly WorkerProcess[]): void {
    if (worker.slot === 0) this.observe(notObserved, others);
    else worker.send(this.#observed);
  }

  /** Passes events to the main worker. If the main worker is too slow, the events are dropped, and
   *  the next message contains their number. */
  relay({ kind, events, missed }: EventsMessage, main: WorkerProcess | undefined): void {
    if (!this.#observed.isOn) return;
    const all = this.#missed + missed;
    const isSent = main?.relay({ kind, events, missed: all }) === true;
    this.#missed = isSent ? 0 : all + events.length;
  }
}

/** Sums the figures of all processes of a server, for `/metrics` and the health page. */
class FigureCollector {
  /** Number of workers that were replaced after an unexpected end. */
  restarts = 0;
  /** Counters of workers that have ended, so that no sum ever decreases. */
  #ended: FigureSample | undefined;

  /** Keeps the counters of a worker that has ended. */
  addEnded({ lastSample }: WorkerProcess): void {
    if (lastSample === undefined) return;
    const last = endedSample(lastSample);
    this.#ended = this.#ended === undefined ? last : mergeSamples([this.#ended, last]);
  }

  /** Collects the figures of all workers but `asking`. For a worker that does not answer, its last
   *  known figures count. */
  async collect(asking: WorkerProcess, workers: readonly WorkerProcess[]): Promise<OtherFigures> {
    const others = workers.filter((worker) => worker !== asking);
    // A worker that is still starting is not asked: it would answer only after its start, and has
    // served no request.
    const serving = others.filter(({ listeningSince }) => listeningSince !== undefined);
    await Promise.all(serving.map((worker) => worker.ask((id) => ({ kind: "sample", id }))));
    const known = others.flatMap(({ lastSample }) => lastSample ?? []);
    // The supervisor serves no requests, so its sample has only process figures.
    const supervisor = newMetrics().sample(processFigures());
    const ended = this.#ended === undefined ? [] : [this.#ended];
    const processes = workers.map(({ pid, lastSample }) => ({
      pid,
      requests: lastSample === undefined ? 0 : requestTotal(lastSample),
      residentBytes: lastSample?.residentBytes ?? 0,
    }));
    return {
      others: mergeSamples([supervisor, ...ended, ...known]),
      workers: { processes, restarts: this.restarts },
    };
  }
}

interface SupervisorOptions {
  readonly options: Options;
  readonly workerCount: number;
  readonly workerProgram: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly announce: (line: string) => void;
  /** Called after the server was stopped because its workers ended again and again. */
  readonly onGivenUp: (problem: string) => void;
}

/** A worker that ends within this time counts as one that cannot start. */
const shortLifeTicks: Ticks = ticksPerSecond;
/** Most workers in succession that end so early while no other worker serves. Then the server is
 *  stopped, because a further one would fail, too. */
const shortLivesMax = 5;
/** Pause before a worker that ended soon after its start is replaced. Doubled each time, because
 *  the cause may last. */
const backOffMilliseconds = 100;
/** Longest such pause: how late a corrected cause (a key file, for example) is noticed. */
const backOffMillisecondsMax = 30_000;
const explorerLine = "Etagere explorer:";

/** Runs the worker processes of one server. All listen on the same sockets, and the kernel gives a
 *  new connection to one of them. A worker that ends is replaced. The worker in slot 0, the main
 *  worker, also serves SMB and the admin listener; if it ends, another worker takes its slot. */
class Supervisor {
  readonly #given: SupervisorOptions;
  readonly #sockets: SharedSockets;
  readonly #feed = new FeedRelay();
  readonly #loadBalance: LoadBalance<WorkerProcess>;
  readonly #figures = new FigureCollector();
  /** The workers by slot (0: the main worker). Those that are replaced in a rolling restart are
   *  only in `#all`. */
  readonly #slots: WorkerProcess[] = [];
  readonly #all = new Set<WorkerProcess>();
  /** Start-up lines, printed when all workers listen: scripts wait for them. */
  readonly #lines: string[] = [];
  #endpoints: readonly EndpointName[] = [];
  #adminAddress: Awaited<WorkerProcess["listening"]>["adminAddress"];
  #state: "starting" | "running" | "stopping" = "starting";
  #shortLives = 0;
  #restarting: Promise<void> = Promise.resolve();
  #isRestartQueued = false;
  #stopped: Promise<void> | undefined;

  private constructor(given: SupervisorOptions, sockets: SharedSockets) {
    this.#given = given;
    this.#sockets = sockets;
    this.#loadBalance = new LoadBalance(given.clock);
  }

  /** Starts all workers. Rejects with `StartRefused` if one does not start. */
  static async start(given: SupervisorOptions): Promise<Supervisor> {
    const { options, workerCount, announce } = given;
    const replaced = (notice: string): void => announce(`Etagere ${notice}`);
    const sockets = await SharedSockets.bind(options, replaced);
    const supervisor = new Supervisor(given, sockets);
    try {
      await supervisor.#startAll(workerCount);
    } catch (error) {
      await supervisor.stop();
      throw error;
    }
    for (const line of supervisor.#lines) announce(line);
    return supervisor;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Rolling restart: each worker is replaced by one with the present configuration, which listens
   *  before the old one stops listening. The old ones read the settings first: the last requests of
   *  their connections are decided by the present roles, too. */
  restart(): Promise<void> {
    if (!this.#isRestartQueued && this.#state === "running") {
      this.#isRestartQueued = true;
      this.#restarting = this.#restarting.then(() => this.#restartAll());
    }
    return this.#restarting;
  }

  async #startAll(workerCount: number): Promise<void> {
    // The main worker starts first: it creates the data folder, and the other workers use its port
    // numbers.
    const main = this.#fork(0);
    this.#slots[0] = main;
    const { urls } = await main.listening;
    this.#endpoints = endpointNames.filter((name) => urls[name] !== undefined);
    for (let slot = 1; slot < workerCount; slot += 1) this.#slots[slot] = this.#fork(slot);
    await Promise.all(this.#slots.map((worker) => worker.listening));
    this.#state = "running";
    for (const worker of this.#slots) if (worker.isLeaving) void this.#replace(worker);
  }

  async #stop(): Promise<void> {
    const { announce } = this.#given;
    const hasServed = this.#state === "running";
    const announceAll = (what: string): void => {
      if (hasServed) for (const name of this.#endpoints) announce(serviceLine(name, what));
    };
    this.#state = "stopping";
    announceAll("is closing...");
    this.#sockets.close();
    await Promise.all([...this.#all].map((worker) => worker.stop({ isDrained: false })));
    announceAll("successfully closed");
  }

  #fork(slot: number): WorkerProcess {
    const { options, workerCount, workerProgram: program, clock } = this.#given;
    const isMain = slot === 0;
    const worker = new WorkerProcess({
      slot,
      program,
      sockets: this.#sockets.entries(),
      clock,
      setup: {
        options: { ...options, ...this.#sockets.ports, replaceablePorts: new Set() },
        workerCount,
        supervisorPid: process.pid,
        isMain,
        adminAddress: this.#adminAddress,
      },
      onMessage: (from, message) => this.#receive(from, message),
    });
    this.#all.add(worker);
    void worker.ended.then((exit) => this.#onEnded(worker, exit));
    return worker;
  }

  #receive(worker: WorkerProcess, message: FromWorker): void {
    switch (message.kind) {
      case "announce":
        return this.#announce(worker, message.line);
      case "figures":
        worker.lastSample = message.own;
        return void this.#sendFigures(worker, message.id);
      case "other-waits":
        return void this.#sendWaits(worker, message.id);
      case "listening":
        this.#adminAddress ??= message.listening.adminAddress;
        return;
      case "observe":
        if (worker === this.#slots[0]) this.#feed.observe(message, this.#slots.slice(1));
        return;
      case "events":
        return this.#feed.relay(message, this.#slots[0]);
      case "load":
        return this.#balance(worker, message.load);
      default:
        return undefined;
    }
  }

  #balance(worker: WorkerProcess, load: number): void {
    // Leaves out workers that are being replaced, because they close all their connections.
    const accepting = this.#slots.filter(({ isLeaving }) => !isLeaving);
    if (!accepting.includes(worker)) return;
    const part = this.#loadBalance.report(worker, load, accepting);
    if (part > 0) worker.relay({ kind: "close-connections", part });
  }

  async #sendFigures(worker: WorkerProcess, id: number): Promise<void> {
    const figures = await this.#figures.collect(worker, [...this.#all]);
    worker.send({ kind: "figures", id, figures });
  }

  async #sendWaits(worker: WorkerProcess, id: number): Promise<void> {
    const others = [...this.#all].filter(
      (each) => each !== worker && each.listeningSince !== undefined,
    );
    const listed = others.map((each) => each.ask((asked) => ({ kind: "waits", id: asked })));
    const waits = (await Promise.all(listed)).flatMap((answer) => answer?.waits ?? []);
    worker.send({ kind: "other-waits", id, waits });
  }

  /** Prints lines of the main worker only, because all workers announce the same ones. */
  #announce(worker: WorkerProcess, line: string): void {
    if (worker.slot !== 0) return;
    if (this.#state === "starting") this.#lines.push(line);
    // A new main worker announces its own login link, because it does not know the links of the
    // worker before.
    else if (line.startsWith(explorerLine)) this.#given.announce(line);
  }

  #onEnded(worker: WorkerProcess, { code, signal }: Awaited<WorkerProcess["ended"]>): void {
    this.#all.delete(worker);
    this.#figures.addEnded(worker);
    const isReplaced = this.#slots[worker.slot] !== worker;
    if (isReplaced || this.#state !== "running") return;
    this.#given.log.error({ pid: worker.pid, code, signal }, "worker ended; replacing it");
    // Starting a process takes half a second of a core, so the admin listener comes first.
    const roleTaken = worker.slot === 0 ? this.#replaceMain(worker) : Promise.resolve();
    void roleTaken.then(() => this.#replace(worker));
  }

  /** Makes another worker the main worker, which takes much less time than to start one. The slots
   *  of both are exchanged. Resolves when it serves as the main worker, or does not answer. */
  async #replaceMain(ended: WorkerProcess): Promise<void> {
    const isServing = ({ isLeaving, listeningSince }: WorkerProcess): boolean =>
      !isLeaving && listeningSince !== undefined;
    const next = this.#slots.find(isServing);
    if (next === undefined) return;
    ended.slot = next.slot;
    next.slot = 0;
    this.#slots[0] = next;
    this.#slots[ended.slot] = ended;
    this.#feed.join(next, this.#slots.slice(1));
    await next.becomeMain();
  }

  async #replace(ended: WorkerProcess): Promise<void> {
    const { clock, log } = this.#given;
    const since = ended.listeningSince;
    const isShort = since === undefined || clock.monotonic() - since < shortLifeTicks;
    this.#shortLives = isShort ? this.#shortLives + 1 : 0;
    // While another worker serves, a stop would turn a missing worker into an outage: the cause (a
    // key file that was not exchanged, for example) may concern new workers alone.
    if (this.#shortLives >= shortLivesMax && !this.#hasLastingWorker()) return this.#giveUp();
    this.#figures.restarts += 1;
    const pause = Math.min(backOffMilliseconds * 2 ** this.#shortLives, backOffMillisecondsMax);
    const milliseconds = isShort ? pause : 0;
    await new Promise<void>((resolve) => void clock.after(milliseconds, resolve));
    if (this.#state !== "running" || this.#slots[ended.slot] !== ended) return;
    const worker = this.#fork(ended.slot);
    this.#slots[ended.slot] = worker;
    try {
      await worker.listening;
      this.#feed.join(worker, this.#slots.slice(1));
    } catch (error) {
      // The worker ends, and `#onEnded` replaces it again.
      const problems = error instanceof StartRefused ? error.problems : [String(error)];
      log.error({ problems }, "worker did not start; trying again after a pause");
    }
  }

  /** Whether a worker has served for longer than those that end soon after their start. */
  #hasLastingWorker(): boolean {
    const now = this.#given.clock.monotonic();
    return [...this.#all].some(
      ({ isLeaving, listeningSince: since }) =>
        !isLeaving && since !== undefined && now - since >= shortLifeTicks,
    );
  }

  async #restartAll(): Promise<void> {
    const { log } = this.#given;
    this.#isRestartQueued = false;
    log.info({ workers: this.#slots.length }, "rolling restart");
    await Promise.all([...this.#all].map((worker) => worker.ask((id) => ({ kind: "reload", id }))));
    for (const old of this.#slots.slice()) {
      try {
        await this.#restartOne(old);
      } catch (error) {
        const problems = error instanceof StartRefused ? error.problems : [String(error)];
        log.error({ problems }, "rolling restart stopped; the old workers continue");
        return;
      }
    }
  }

  /** Replaces a worker in a rolling restart. Rejects with `StartRefused` if the new one fails. */
  async #restartOne(old: WorkerProcess): Promise<void> {
    const { slot } = old;
    // A worker that has ended is being replaced already.
    if (this.#state !== "running" || old.isLeaving || this.#slots[slot] !== old) return;
    const worker = this.#fork(slot);
    await worker.listening;
    if (this.#slots[slot] === old) {
      this.#slots[slot] = worker;
      this.#feed.join(worker, this.#slots.slice(1));
      void old.stop({ isDrained: true });
    } else {
      void worker.stop({ isDrained: true });
      // The old worker became the main worker meanwhile, so its new slot is restarted, too.
      await this.#restartOne(old);
    }
  }

  /** Stops the server because its workers cannot run. */
  async #giveUp(): Promise<void> {
    await this.stop();
    this.#given.onGivenUp(
      `workers ended ${shortLivesMax} times within 1 s of their start, and no other worker ` +
        "serves; the server is stopped",
    );
  }
}

/** Starts a server with several workers. Rejects with `StartRefused` if one does not start. */
export async function startWorkers(
  options: Options,
  environment: Omit<SupervisorOptions, "options">,
): Promise<Pick<EtagereServer, "stop" | "reload">> {
  expectFreeDescriptors();
  const supervisor = await Supervisor.start({ ...environment, options });
  return { stop: () => supervisor.stop(), reload: () => supervisor.restart() };
}
