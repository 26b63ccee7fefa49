import { FeedForwarder } from "../admin/feed/feed-forwarder.ts";
import type { ReceiveEvents } from "../admin/admin-context.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import type { Clock } from "../base/world.ts";
import type { Wait } from "../operation/work.ts";
import { LastResponses, type BoundSocket } from "../server/listener.ts";
import { openAccessLog, sharedConsoleSink } from "../server/access-log.ts";
import { mergeSamples } from "./merge-samples.ts";
import { mainTitles } from "./shared-sockets.ts";
import { stopPaces, type RunningServer } from "../server/running-server.ts";
import { logFor } from "../host/log.ts";
import { realEnvironment } from "../host/world.ts";
import { openServer } from "../server/start.ts";
import { StartRefused } from "../host/refused.ts";
import { loadMilliseconds } from "./load-balance.ts";
import type { FromWorker, OtherFigures, ToWorker, WorkerSetup } from "./messages.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The program of a worker process (`--workers`): a server that the supervisor starts, stops and
 *  asks for figures by messages (`messages.ts`). */

/** The connections of a worker process that had a request in the current period. A worker that is
 *  busier than others closes a part of these connections, so that their clients connect to other
 *  workers (`workers/load-balance.ts`). */
export class ActiveConnections {
  #current = new Set<Socket>();
  #previousCount = 0;
  #toClose = 0;
  readonly #last = new LastResponses();

  /** Adds the connection of a request. Must be called before the response begins. */
  onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    if (!this.#last.keepOpen(socket) && this.#toClose > 0) {
      this.#toClose -= 1;
      this.#last.closeAfter(socket, response);
      return;
    }
    this.#current.add(socket);
  }

  nextPeriod(): void {
    this.#previousCount = this.#current.size;
    this.#current = new Set();
    this.#toClose = 0;
  }

  /** Closes this part (0 to 1) of the connections that were active in the previous period, each
   *  after its next response in this period. Connections without a request are not closed: they
   *  cause no load, and a request may be on its way. */
  close(part: number): void {
    this.#toClose = Math.floor(this.#previousCount * part);
  }
}

/** How long the main worker waits for the figures and waiting calls of the other processes. Then it
 *  answers an admin request without them, so that the page appears. */
const answerMillisecondsMax = 5000;
/** Most waiting calls that the main worker gets of each other worker: a bound for the message. */
const waitsMax = 500;

/** Runs a worker process: serves as the supervisor's messages require, until `stop`. */
export function runWorker(): void {
  // A terminal or service manager sends a signal to all processes of the group; workers ignore it,
  // because the supervisor decides what follows.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  const worker = new WorkerRun();
  process.on("message", (message: ToWorker, socket: BoundSocket | undefined) =>
    worker.receive(message, socket),
  );
  // The channel closes when the supervisor has ended. `process.exit` would wait for the thread of a
  // commit in progress, which waits for this one, and both would keep the write lock.
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  void send({ kind: "ready" });
}

/** The server of this worker process, and how it reacts to the messages of the supervisor. */
class WorkerRun {
  #server: Promise<RunningServer | undefined> = Promise.resolve(undefined);
  #forwarder: FeedForwarder | undefined;
  #receiveEvents: ReceiveEvents | undefined;
  readonly #sockets = new Map<string, BoundSocket>();
  readonly #figures = new Map<number, (figures: OtherFigures) => void>();
  readonly #otherWaits = new Map<number, (waits: readonly Wait[]) => void>();
  readonly #connections = new ActiveConnections();
  #lastId = 0;
  #isMain = false;

  receive(message: ToWorker, socket?: BoundSocket): void {
    switch (message.kind) {
      case "socket":
        if (socket !== undefined) this.#sockets.set(message.title, socket);
        return;
      case "start":
        this.#server = this.#start(message.setup);
        return;
      case "become-main":
        return void this.#becomeMain(message.id);
      case "sample":
        return void this.#withServer(async (server) => {
          await send({ kind: "done", id: message.id, sample: server.sample() });
        });
      case "waits":
        return void this.#withServer(async (server) => {
          const waits = server.callWaits().slice(0, waitsMax);
          await send({ kind: "done", id: message.id, waits });
        });
      case "reload":
        return void this.#withServer(async (server) => {
          await server.reloadSettings();
          await send({ kind: "done", id: message.id });
        });
      case "figures":
        return this.#figures.get(message.id)?.(message.figures);
      case "other-waits":
        return this.#otherWaits.get(message.id)?.(message.waits);
      case "observe":
        return this.#forwarder?.observe(message.isOn, message.reads);
      case "events":
        return this.#receiveEvents?.(message.events, message.missed);
      case "close-connections":
        return this.#connections.close(message.part);
      case "stop":
        return void this.#stop(message.isDrained);
    }
  }

  async #start(setup: WorkerSetup): Promise<RunningServer | undefined> {
    const { options } = setup;
    this.#isMain = setup.isMain;
    const environment = realEnvironment(logFor(options, process.pid));
    const { clock, log } = environment;
    const accessLog = options.silent ? undefined : openAccessLog(clock, sharedConsoleSink());
    try {
      const { server } = await openServer(options, {
        ...environment,
        accessLog,
        announce: (line) => void send({ kind: "announce", line }),
        worker: {
          ...setup,
          sockets: this.#sockets,
          onRequest: (request, response) => this.#connections.onRequest(request, response),
          sampleAll: (own) => this.#sampleAll(own, clock),
          others: {
            observe: (receive, reads) => this.#observeOthers(receive, reads),
            waits: async () =>
              (await this.#ask(this.#otherWaits, clock, (id) => ({ kind: "other-waits", id }))) ??
              [],
          },
        },
      });
      const { observer, urls, adminAddress } = server;
      if (!setup.isMain) {
        this.#forwarder = new FeedForwarder({
          observer,
          clock,
          log,
          send: (events, missed) => send({ kind: "events", events, missed }),
        });
      }
      await send({ kind: "listening", listening: { urls, adminAddress } });
      this.#reportLoad(clock);
      return server;
    } catch (error) {
      if (!(error instanceof StartRefused)) throw error;
      await send({ kind: "refused", problems: error.problems });
      process.exit(1);
    }
  }

  async #becomeMain(id: number): Promise<void> {
    // Stops forwarding feed events, because the main worker records its own events in its own feed.
    this.#forwarder?.observe(false, []);
    this.#forwarder = undefined;
    this.#isMain = true;
    await this.#withServer(async (server) => {
      await server.listenAsMain();
      await send({ kind: "done", id });
    });
  }

  #reportLoad(clock: Clock, previous = performance.eventLoopUtilization()): void {
    clock.after(loadMilliseconds, () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, previous);
      this.#connections.nextPeriod();
      // If the report cannot be sent, the next one may still succeed; without a supervisor this
      // process ends.
      send({ kind: "load", load: utilization }).catch(() => {});
      this.#reportLoad(clock, now);
    });
  }

  async #withServer(act: (server: RunningServer) => Promise<void>): Promise<void> {
    const server = await this.#server;
    if (server !== undefined) await act(server);
  }

  #observeOthers(receive: ReceiveEvents | undefined, reads: readonly string[]): void {
    this.#receiveEvents = receive;
    void send({ kind: "observe", isOn: receive !== undefined, reads });
  }

  async #sampleAll(own: FigureSample, clock: Clock): Promise<FigureSample> {
    // If the supervisor does not answer, the figures of this process alone are shown.
    const answer = await this.#ask(this.#figures, clock, (id) => ({ kind: "figures", id, own }));
    if (answer === undefined) return own;
    return { ...mergeSamples([own, answer.others]), workers: answer.workers };
  }

  /** Sends a message with a new id to the supervisor, and waits for the answer, which `receive`
   *  passes to the function in `answers`. Undefined if there is none in time. */
  async #ask<T>(
    answers: Map<number, (answer: T) => void>,
    clock: Clock,
    message: (id: number) => FromWorker,
  ): Promise<T | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = await new Promise<T | undefined>((resolve) => {
      const cancel = clock.after(answerMillisecondsMax, () => resolve(undefined));
      answers.set(id, (value) => {
        cancel();
        resolve(value);
      });
      void send(message(id));
    });
    answers.delete(id);
    return answer;
  }

  async #stop(isDrained: boolean): Promise<void> {
    // The listeners of the main worker that this one does not serve: without a close, their ports
    // would stay open until the process ends.
    if (!this.#isMain) for (const title of mainTitles) closeSocket(this.#sockets.get(title));
    await this.#withServer(async (server) => {
      await server.stop(isDrained ? stopPaces.replaced : stopPaces.signal);
      await send({ kind: "ending", sample: server.sample() });
    });
    process.exit(0);
  }
}

/** Closes a socket that this worker has received and no listener serves. */
function closeSocket(socket: BoundSocket | undefined): void {
  const handle: { close?: () => void } | undefined = socket;
  handle?.close?.();
}

/** Sends a message to the supervisor. Resolves when it is written to the channel. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
