import { fork, type ChildProcess, type SendHandle } from "node:child_process";
import type { FigureSample } from "../admin/views/figures.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { BoundSocket } from "../server/listener.ts";
import { StartRefused } from "../host/refused.ts";
import {
  workerArgument,
  type DoneMessage,
  type FromWorker,
  type ToWorker,
  type WorkerListening,
  type WorkerSetup,
} from "./messages.ts";

/** One worker process as the supervisor handles it: starts it with its sockets and options,
 *  exchanges messages with it, and stops it. */

/** How the supervisor starts a worker process, and what it passes to it. */
interface WorkerProcessOptions {
  readonly slot: number;
  readonly program: string;
  /** The sockets to serve, by the title of the listener. */
  readonly sockets: Iterable<readonly [string, BoundSocket]>;
  readonly setup: WorkerSetup;
  readonly clock: Clock;
  readonly onMessage: (worker: WorkerProcess, message: FromWorker) => void;
}

interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How long the supervisor waits for the answer to a message. Then it goes on, so that a worker
 *  that hangs does not delay it. */
const answerMillisecondsMax = 2000;
/** How long a worker may take to end after `stop`: longer than it gives its connections and running
 *  requests. Then it is killed. */
const stopMillisecondsMax = 20_000;
/** The same in a rolling restart, in which connections get more time to end. */
const drainMillisecondsMax = 60_000;
/** Most relayed messages that are not written to the channel yet. Further ones are dropped: a slow
 *  worker must not fill the memory. */
const relayedMessagesMax = 8;

/** A message, the socket that is sent with it, and a callback for when it is sent. */
type Outgoing = readonly [ToWorker, BoundSocket | undefined, () => void];

type Answer = (done: DoneMessage | undefined) => void;

/** A worker process as the supervisor sees it, from the start of the process to its end. */
export class WorkerProcess {
  slot: number;
  /** Resolves when the worker serves all its listeners; rejects with `StartRefused`. */
  readonly listening: Promise<WorkerListening>;
  readonly ended: Promise<WorkerExit>;
  /** Whether the worker has ended or was asked to end. */
  isLeaving = false;
  /** Monotonic time at which the worker began to listen; undefined before. */
  listeningSince: Ticks | undefined;
  lastSample: FigureSample | undefined;
  readonly #worker: ChildProcess;
  readonly #clock: Clock;
  readonly #answers = new Map<number, Answer>();
  #lastId = 0;
  #relayed = 0;
  /** Messages that wait until the worker is ready to receive them; undefined afterwards. */
  #unsent: Outgoing[] | undefined = [];

  constructor({ slot, program, sockets, setup, clock, onMessage }: WorkerProcessOptions) {
    this.slot = slot;
    this.#clock = clock;
    this.#worker = fork(program, [workerArgument], { serialization: "advanced" });
    const worker = this.#worker;
    this.ended = new Promise((resolve) => {
      worker.once("exit", (code: number | null, signal: string | null) => {
        this.isLeaving = true;
        for (const answer of this.#answers.values()) answer(undefined);
        resolve({ code, signal });
      });
    });
    this.listening = this.#awaitListening();
    // Prevents an unhandled rejection: the caller that awaits `listening` reports the failure.
    this.listening.catch(() => {});
    worker.on("message", (message: FromWorker) => this.#receive(message, onMessage));
    // Sending to a worker that has just ended fails; the handler of its exit acts on that.
    worker.on("error", () => {});
    this.#sendSockets(sockets);
    this.send({ kind: "start", setup });
  }

  /** Lets the worker serve as the main worker, too. Resolves when it does, has ended, or has not
   *  answered in time. */
  async becomeMain(): Promise<void> {
    await this.ask((id) => ({ kind: "become-main", id }));
  }

  get pid(): number {
    return this.#worker.pid ?? 0;
  }

  send(message: ToWorker, sent: () => void = () => {}): void {
    this.#sendSoon([message, undefined, sent]);
  }

  /** Sends a message that may be lost. Returns false without sending it if the worker is too slow:
   *  `relayedMessagesMax` messages are on their way. */
  relay(message: ToWorker): boolean {
    if (this.#relayed >= relayedMessagesMax) return false;
    this.#relayed += 1;
    this.send(message, () => (this.#relayed -= 1));
    return true;
  }

  /** Sends a message with a new id and returns the answer. Resolves to undefined if the worker ends
   *  or does not answer in time. */
  ask(message: (id: number) => ToWorker): Promise<DoneMessage | undefined> {
    if (this.isLeaving && !this.#worker.connected) return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const answer: Answer = (done) => {
        cancel();
        this.#answers.delete(id);
        resolve(done);
      };
      const cancel = this.#clock.after(answerMillisecondsMax, () => answer(undefined));
      this.#answers.set(id, answer);
      this.send(message(id));
    });
  }

  /** Stops the worker; resolves when the process has ended. One that does not end in time is
   *  killed. `isDrained`: connections get time to end. */
  async stop({ isDrained }: { readonly isDrained: boolean }): Promise<void> {
    this.isLeaving = true;
    this.send({ kind: "stop", isDrained });
    const limit = isDrained ? drainMillisecondsMax : stopMillisecondsMax;
    const cancel = this.#clock.after(limit, () => this.#worker.kill("SIGKILL"));
    await this.ended;
    cancel();
  }

  #receive(message: FromWorker, onMessage: WorkerProcessOptions["onMessage"]): void {
    if (message.kind === "ready") return this.#sendUnsent();
    if (message.kind === "done") {
      if (message.sample !== undefined) this.lastSample = message.sample;
      this.#answers.get(message.id)?.(message);
      return;
    }
    if (message.kind === "ending") this.lastSample = message.sample;
    onMessage(this, message);
  }

  #sendSockets(sockets: WorkerProcessOptions["sockets"]): void {
    for (const [title, socket] of sockets) {
      this.#sendSoon([{ kind: "socket", title }, socket, () => {}]);
    }
  }

  #sendUnsent(): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = undefined;
    for (const outgoing of unsent) this.#sendSoon(outgoing);
  }

  #sendSoon(outgoing: Outgoing): void {
    const [message, socket, sent] = outgoing;
    if (!this.#worker.connected) sent();
    // Node would drop messages for which the worker has no listener yet.
    else if (this.#unsent !== undefined) this.#unsent.push(outgoing);
    else this.#worker.send(message, socket as SendHandle | undefined, undefined, sent);
  }

  #awaitListening(): Promise<WorkerListening> {
    return new Promise((resolve, reject) => {
      this.#worker.on("message", (message: FromWorker) => {
        if (message.kind === "refused") reject(new StartRefused(message.problems));
        if (message.kind !== "listening") return;
        this.listeningSince = this.#clock.monotonic();
        resolve(message.listening);
      });
      this.#worker.once("exit", (code: number | null, signal: string | null) => {
        const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
        reject(new StartRefused([`a worker ended ${how} before it listened`]));
      });
    });
  }
}
