import type { Clock } from "../base/world.ts";

/** Longest reservation: a client that does not write within it loses its reservation. */
const reservationMillisecondsMax = 25;
/** A queue without conditional writes for this long is removed. */
const idleMillisecondsMax = 1000;
const queuesMax = 10_000;
/** Further clients proceed at once: the last in the queue waits a few seconds at most. */
export const waitingMax = 256;

/** A connection or any other object that identifies a client. */
export type ClientIdentity = object;

/** Gives fair access to clients that change one resource in a loop of read and conditional write.
 *  Without it the client that has just written is ahead of those that must read first, and wins
 *  again. A client whose precondition failed and that reads the resource again holds a reservation
 *  until its next conditional write, for 25 ms at most; the other contending clients wait in FIFO
 *  order. Affects latency and fairness, never results (docs/adr/009-fair-conditional-writes.md). */
export class ContentionQueues {
  readonly #queues = new Map<string, ContentionQueue>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Called before a conditional write. Undefined if the client may proceed at once. */
  write(name: string, client: ClientIdentity): Promise<void> | undefined {
    return this.#queues.get(name)?.enter(client);
  }

  /** Called before a read. Only clients whose last conditional write failed wait. */
  read(name: string, client: ClientIdentity): Promise<void> | undefined {
    const queue = this.#queues.get(name);
    return queue?.consumeFailure(client) === true ? queue.enter(client) : undefined;
  }

  /** Called after a conditional write. */
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

  /** Whether the client's last write failed. Each failure counts once: a client that only goes on
   *  reading, such as another user of the same connection, delays no other. */
  consumeFailure(client: ClientIdentity): boolean {
    return this.#failed.delete(client);
  }

  /** Undefined if the client may proceed at once. */
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

  /** Lets all waiting clients proceed. */
  #stop(): void {
    this.#cancelReservation();
    this.#end();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}

interface WaitingClient {
  readonly client: ClientIdentity;
  readonly resolve: () => void;
}
