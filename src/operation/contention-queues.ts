import type { Clock } from "../base/world.ts";

/** Fair order for clients that change one resource in a loop of read and conditional write (a
 *  counter in a blob, for example). Otherwise the client that wrote last would win again and again,
 *  because it alone need not read first. `execute.ts` asks this queue before each such request
 *  (docs/adr/009-fair-conditional-writes.md). */

/** Longest reservation. A client that does not write within this time loses its reservation. */
const reservationMillisecondsMax = 25;
/** Time after the last conditional write at which a queue is removed: the clients have ended their
 *  loops, and the queue would only take memory. */
const idleMillisecondsMax = 1000;
/** Most resources with a queue, which bounds the memory; further ones have no fair order. */
const queuesMax = 10_000;
/** Most waiting clients per resource. Further clients proceed at once, so that the last client in
 *  the queue waits a few seconds at most. */
export const waitingMax = 256;

/** A connection or any other object that identifies a client. */
export type ClientIdentity = object;

/** A client whose precondition failed and that reads the resource again gets a reservation until
 *  its next conditional write, for 25 ms at most; the other contending clients wait in FIFO order.
 *  Affects latency and fairness, never results. */
export class ContentionQueues {
  readonly #queues = new Map<string, ContentionQueue>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Called before a conditional write. Returns a promise that resolves when the client may write;
   *  undefined if it may at once. */
  write(name: string, client: ClientIdentity): Promise<void> | undefined {
    return this.#queues.get(name)?.enter(client);
  }

  /** Called before a read. Returns a promise that resolves when the client may read; undefined if
   *  it may at once. Only clients whose last conditional write failed wait. */
  read(name: string, client: ClientIdentity): Promise<void> | undefined {
    const queue = this.#queues.get(name);
    return queue?.consumeFailure(client) === true ? queue.enter(client) : undefined;
  }

  /** Called after a conditional write. The first failure creates the queue of the resource. */
  leave(name: string, client: ClientIdentity, hasFailed: boolean): void {
    let queue = this.#queues.get(name);
    if (queue === undefined && hasFailed && this.#queues.size < queuesMax) {
      queue = new ContentionQueue(this.#clock, () => this.#queues.delete(name));
      this.#queues.set(name, queue);
    }
    queue?.leave(client, hasFailed);
  }
}

class ContentionQueue {
  readonly #clock: Clock;
  readonly #end: () => void;
  /** Clients whose last conditional write failed. Weak: a queue may outlive connections. */
  readonly #failed = new WeakSet<ClientIdentity>();
  readonly #waiting: WaitingClient[] = [];
  #current: ClientIdentity | undefined;
  #cancelReservation = (): void => undefined;
  #cancelEnd = (): void => undefined;

  constructor(clock: Clock, end: () => void) {
    this.#clock = clock;
    this.#end = end;
  }

  /** Whether the client's last write failed. One read consumes a failure: otherwise a client that
   *  only reads (another user of the same connection, for example) would delay other clients. */
  consumeFailure(client: ClientIdentity): boolean {
    return this.#failed.delete(client);
  }

  /** Returns a promise that resolves when the client gets the reservation; undefined if it gets it
   *  at once, or if too many clients wait. */
  enter(client: ClientIdentity): Promise<void> | undefined {
    if (this.#current === client) return undefined;
    if (this.#current === undefined) {
      this.#begin(client);
      return undefined;
    }
    if (this.#waiting.length >= waitingMax) return undefined;
    return new Promise((resolve) => this.#waiting.push({ client, resolve }));
  }

  leave(client: ClientIdentity, hasFailed: boolean): void {
    if (hasFailed) this.#failed.add(client);
    else this.#failed.delete(client);
    if (this.#current === client) this.#next();
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(idleMillisecondsMax, () => this.#stop());
  }

  #begin(client: ClientIdentity): void {
    this.#current = client;
    this.#cancelReservation = this.#clock.after(reservationMillisecondsMax, () => this.#next());
  }

  #next(): void {
    this.#cancelReservation();
    this.#current = undefined;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#begin(next.client);
    next.resolve();
  }

  /** Ends the queue; all waiting clients proceed. */
  #stop(): void {
    this.#cancelReservation();
    this.#end();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}

/** A client in the queue, with the function that lets it proceed. */
interface WaitingClient {
  readonly client: ClientIdentity;
  readonly resolve: () => void;
}
